package main

import (
	"flag"
	"strings"
	"testing"
)

func TestUsageTellsEveryFlag(t *testing.T) {
	status, stdout, stderr := runDemo(t, "", "-h")
	if status != allWell || stderr != "" {
		t.Errorf("status %d, errors %q", status, stderr)
	}
	set := flag.NewFlagSet("", flag.ContinueOnError)
	(&flags{}).define(set)
	set.VisitAll(func(f *flag.Flag) {
		want(t, "usage", stdout, "\n  -"+f.Name+" ")
	})
	for _, s := range scenarios {
		want(t, "usage", stdout, s.name)
	}
	for line := range strings.Lines(stdout) {
		if len(line) > columns+1 {
			t.Errorf("longer than %d columns: %q", columns, line)
		}
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for args, reason := range map[string]string{
		"-x":                         "-x",
		"-batch x":                   `invalid value "x" for flag -batch`,
		"-batch 0":                   "demo: -batch 0: must be 1 to 100\n",
		"-batch 101":                 "demo: -batch 101: must be 1 to 100\n",
		"-nodes 0":                   "demo: -nodes 0: must be 1 to 254\n",
		"-nodes 255":                 "demo: -nodes 255: must be 1 to 254\n",
		"-mode bare,all":             `invalid value "bare,all" for flag -mode: "all" must be bare, none, rmw or any_write`,
		"-mode ,":                    `invalid value "," for flag -mode: must name at least one`,
		"-seeds ,":                   "demo: -seeds: must name at least one\n",
		"-seeds ftp://a":             "demo: -seeds: ",
		"-prefix x":                  "demo: -prefix: only goes with -seeds\n",
		"-key-id x":                  "demo: -key-id: only goes with -seeds\n",
		"-secret x":                  "demo: -secret: only goes with -seeds\n",
		"-nodes 3 -seeds http://a:1": "demo: -nodes: does not go with -seeds\n",
		"bare":                       `demo: unknown argument "bare"` + "\n",
	} {
		status, stdout, stderr := runDemo(t, "", strings.Fields(args)...)
		if status != misused || stdout != "" {
			t.Errorf("%s: status %d, output %q", args, status, stdout)
		}
		want(t, args, stderr, reason, "See -h for what there is.\n")
	}
}

func TestFlagsFollowTheEnvironment(t *testing.T) {
	for _, name := range []string{"NO_COLOR", "TERM", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "")
	}
	plain, err := parseFlags(nil)
	if err != nil {
		t.Fatal(err)
	}
	if plain.ascii || plain.credentials.AccessKeyID != "demo" || plain.credentials.SecretAccessKey != "demo" {
		t.Errorf("without an environment: %+v", plain)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "me")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "mine")
	t.Setenv("TERM", "dumb")
	got, err := parseFlags([]string{"-seeds", "http://a:1, http://b:1", "-secret", "other", "-mode", "rmw"})
	if err != nil {
		t.Fatal(err)
	}
	if !got.ascii || got.credentials.AccessKeyID != "me" || got.credentials.SecretAccessKey != "other" {
		t.Errorf("with an environment: %+v", got)
	}
	if len(got.seeds) != 2 || got.seeds[1] != "http://b:1" || len(got.scenarios) != 1 || got.scenarios[0].name != "rmw" {
		t.Errorf("lists are %q and %+v", got.seeds, got.scenarios)
	}
}
