package discovery

import (
	"slices"
	"strings"
	"testing"
)

func TestParseLocalNodes(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string
		err        string // in the error; "" for none
	}{
		{"addresses", `["127.0.0.1","::1","node-1.example"]`, []string{"127.0.0.1", "::1", "node-1.example"}, ""},
		{"white space around", " [ \"a\" ,\n\"b\" ]\n", []string{"a", "b"}, ""},
		{"escapes", `["\u0061"]`, []string{"a"}, ""},
		{"entries of any kind", `["", " a", "http://x", "a/b"]`, []string{"", " a", "http://x", "a/b"}, ""},
		{"duplicates", `["a","a"]`, []string{"a", "a"}, ""},
		{"no entries", `[]`, []string{}, ""},
		{"empty", ``, nil, "not a JSON array of strings"},
		{"HTML", `<html><body>It works</body></html>`, nil, "not a JSON array of strings"},
		{"null", `null`, nil, "it is null"},
		{"object", `{}`, nil, "not a JSON array of strings"},
		{"string", `"127.0.0.1"`, nil, "not a JSON array of strings"},
		{"number in it", `["",5]`, nil, "not a JSON array of strings"},
		{"null in it", `["a",null]`, nil, "it has a null"},
		{"only null in it", `[null]`, nil, "it has a null"},
		{"array in it", `[["a"]]`, nil, "not a JSON array of strings"},
		{"something after it", `["a"] x`, nil, "not a JSON array of strings"},
		{"two arrays", `["a"]["b"]`, nil, "not a JSON array of strings"},
		{"truncated", `["a","b`, nil, "not a JSON array of strings"},
		{"as long as allowed", `["a"` + strings.Repeat(" ", maxLocalNodesBody-5) + `]`, []string{"a"}, ""},
		{"too long", `["a"` + strings.Repeat(" ", maxLocalNodesBody-4) + `]`, nil, "longer than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseLocalNodes([]byte(c.body))
			if !slices.Equal(got, c.want) || (got == nil) != (err != nil) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q in it", err, c.err)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		entry string
		want  string // the node on port 8000; "" if there is none
	}{
		{"10.0.0.1", "http://10.0.0.1:8000"},
		{"::1", "http://[::1]:8000"},
		{"2001:db8::10", "http://[2001:db8::10]:8000"},
		{"::ffff:10.0.0.1", "http://[::ffff:10.0.0.1]:8000"},
		{"fe80::1%eth0", "http://[fe80::1%25eth0]:8000"},
		{"fe80::1%wlan0.1~a_b-c", "http://[fe80::1%25wlan0.1~a_b-c]:8000"},
		{"localhost", "http://localhost:8000"},
		{"Node-1.Example", "http://node-1.example:8000"},
		{"node.example.", "http://node.example.:8000"},
		{"scylla_1", "http://scylla_1:8000"},
		{"1a.2b", "http://1a.2b:8000"},
		{"xn--bcher-kva.example", "http://xn--bcher-kva.example:8000"},
		{strings.Repeat("a", 63) + ".example", "http://" + strings.Repeat("a", 63) + ".example:8000"},

		{"", ""},
		{" ", ""},
		{" a", ""},
		{"a ", ""},
		{"a b", ""},
		{"a\n", ""},
		{"a\x00", ""},
		{"\u00e4", ""},
		{"http://x", ""},
		{"user@x", ""},
		{"a/b", ""},
		{"a?b", ""},
		{"a#b", ""},
		{"a%41", ""},
		{"a:80", ""},
		{"10.0.0.1:80", ""},
		{"[::1]", ""},
		{"[::1]:80", ""},
		{"::1:80:x", ""},
		{":", ""},
		{"a..b", ""},
		{".a", ""},
		{".", ""},
		{"-a", ""},
		{"a-", ""},
		{"a-.b", ""},
		{"1", ""},
		{"127.1", ""},
		{"10.0.0.256", ""},
		{"10.0.0.01", ""},
		{"a.1", ""},
		{"a.1.", ""},
		{"10.0.0.1.", ""},
		{"fe80::1%", ""},
		{"fe80::1%a b", ""},
		{"fe80::1%a/b", ""},
		{"fe80::1%eth0]:80/?", ""},
		{"10.0.0.1%eth0", ""},
		{strings.Repeat("a", 64) + ".example", ""},
		{strings.Repeat("a.", 126) + "bc", ""},
		{"5b2f4f0a-8c3e-4b7a-9d70-0d2a6f1c9e11", ""},
		{"5B2F4F0A-8C3E-4B7A-9D70-0D2A6F1C9E11", ""},
	} {
		log := &logs{}
		n := newNodes(t, NodesConfig{Logger: log}, "http://seed:8000")
		got := ""
		for range 3 {
			got = ""
			if node := n.nodeOf(c.entry); node != nil {
				got = node.String()
			}
		}
		if got != c.want {
			t.Errorf("%q is the node %q, want %q", c.entry, got, c.want)
		}
		dropped := 0
		if c.want == "" {
			dropped = 1
		}
		if lines := log.with("left out"); len(lines) != dropped {
			t.Errorf("%q, three times: logged %q, want %d lines", c.entry, lines, dropped)
		}
	}
}

// TestSchemeAndPortAreTheSeeds checks that nothing that a node lists can change
// either.
func TestSchemeAndPortAreTheSeeds(t *testing.T) {
	for _, c := range []struct{ seed, entry, want string }{
		{"http://seed:8000", "a", "http://a:8000"},
		{"http://seed", "a", "http://a"},
		{"http://seed", "::1", "http://[::1]"},
		{"http://seed:80", "a", "http://a"},
		{"https://seed", "a", "https://a"},
		{"https://seed:8043", "::1", "https://[::1]:8043"},
		{"https://seed:80", "a", "https://a:80"},
		{"HTTPS://seed:443", "a", "https://a"},
		{"https://seed", "http://a", ""},
		{"https://seed", "a:80", ""},
	} {
		n := newNodes(t, NodesConfig{}, c.seed)
		got := ""
		if node := n.nodeOf(c.entry); node != nil {
			got = node.String()
		}
		if got != c.want {
			t.Errorf("%s lists %q: node %q, want %q", c.seed, c.entry, got, c.want)
		}
	}
}

func TestTranslateAddress(t *testing.T) {
	for _, c := range []struct {
		address string // that it is translated to
		want    string
	}{
		{"203.0.113.1", "https://203.0.113.1:8043"},
		{"203.0.113.1:9000", "https://203.0.113.1:9000"},
		{"node.example", "https://node.example:8043"},
		{"Node.example:443", "https://node.example"},
		{"2001:db8::1", "https://[2001:db8::1]:8043"},
		{"[2001:db8::1]:9000", "https://[2001:db8::1]:9000"},
		{"[fe80::1%eth0]:9000", "https://[fe80::1%25eth0]:9000"},

		{"http://x", ""},
		{"https://x:9000", ""},
		{"user@x", ""},
		{"user@x:80", ""},
		{"a/b", ""},
		{"a:80/b", ""},
		{"a:80?b", ""},
		{"a b", ""},
		{"a:", ""},
		{":80", ""},
		{"a:0", ""},
		{"a:http", ""},
		{"a:-1", ""},
		{"a:+1", ""},
		{"a:65536", ""},
		{"[::1]", ""},
		{"[a/b]:80", ""},
		{"10.1:80", ""},
	} {
		log := &logs{}
		n := newNodes(t, NodesConfig{
			Logger: log,
			TranslateAddress: func(address string) string {
				if address != "10.0.0.1" {
					t.Errorf("asked to translate %q", address)
				}
				return c.address
			},
		}, "https://seed:8043")
		got := ""
		if node := n.nodeOf("10.0.0.1"); node != nil {
			got = node.String()
		}
		if got != c.want {
			t.Errorf("translated to %q: node %q, want %q", c.address, got, c.want)
		}
		lines := log.with(`the node "10.0.0.1" at the address "` + c.address + `" is left out`)
		if (len(lines) == 1) != (c.want == "") || len(lines) > 1 {
			t.Errorf("translated to %q: logged %q", c.address, log.with(""))
		}
	}
}

func TestAnEmptyTranslationLeavesOut(t *testing.T) {
	log := &logs{}
	n := newNodes(t, NodesConfig{Logger: log, TranslateAddress: func(string) string { return "" }}, oneSeed)
	if node := n.nodeOf("10.0.0.1"); node != nil || len(log.with("")) != 0 {
		t.Errorf("node %v, logged %q; want neither", node, log.with(""))
	}
}

// TestLogsOfEntriesAreBounded checks that a server that lists nonsense without
// end does not fill the log.
func TestLogsOfEntriesAreBounded(t *testing.T) {
	log := &logs{}
	n := newNodes(t, NodesConfig{Logger: log}, oneSeed)
	for i := range 1000 {
		n.nodeOf(strings.Repeat("/", 1000+i))
	}
	lines := log.with("left out")
	if len(lines) != maxWarnings {
		t.Fatalf("%d lines, want %d", len(lines), maxWarnings)
	}
	for _, line := range lines {
		if len(line) > 400 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}
