// Command explain tells how a BatchWriteItem is routed, and why: which of its
// writes vote for which node, which do not, and in which order the nodes are
// tried. It sends no write.
//
//	go run ./explain -h
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal does not wait
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// The exit statuses.
const (
	explained = 0
	failed    = 1 // the request is malformed, or the cluster cannot be asked
	misused   = 2 // wrong flags
)

// run is the whole program. It returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f, err := parseFlags(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return explained
	}
	if err != nil {
		fmt.Fprintf(stderr, "explain: %v\nSee -h for what there is.\n", err)
		return misused
	}
	if err := explain(ctx, f, stdin, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "explain: %v\n", err)
		return failed
	}
	return explained
}

func explain(ctx context.Context, f *flags, stdin io.Reader, stdout, stderr io.Writer) error {
	request, err := readRequest(f.request, stdin)
	if err != nil {
		return err
	}
	known := &knowledge{ring: f.ring, keys: f.keys}
	if len(f.seeds) > 0 {
		if known, err = ask(ctx, f, request, stderr); err != nil {
			return err
		}
	}
	r := newReport(known, request)
	if f.json {
		return r.writeJSON(stdout)
	}
	return r.writeText(stdout)
}
