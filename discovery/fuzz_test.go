package discovery

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/keyroute/keyroute/resolver"
)

// checkNode checks that a node which was made of an address is one that can be
// asked: its scheme is the given one, its canonical form is an endpoint of
// itself, and its host survives the URL of a request.
func checkNode(t *testing.T, address, scheme string, node *resolver.Node) {
	t.Helper()
	if node.Scheme() != scheme || !strings.HasPrefix(node.String(), scheme+"://") {
		t.Fatalf("%q: the node %s, want the scheme %s", address, node, scheme)
	}
	target := url.URL{Scheme: node.Scheme(), Host: node.Host(), Path: "/localnodes"}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target.String(), nil)
	if err != nil {
		t.Fatalf("%q: the request: %v", address, err)
	}
	if request.URL.Host != node.Host() || request.URL.Path != "/localnodes" || request.URL.User != nil {
		t.Fatalf("%q: a request to %s, want the host %s", address, request.URL, node.Host())
	}
}

func FuzzParseLocalNodes(f *testing.F) {
	for _, body := range []string{
		`["127.0.0.1","::1"]`, `["fe80::1%eth0","node.example."]`, `[]`, `[null]`, `null`, `{}`, `["",5]`, `["a"] x`,
		`["http://x","user@x","a/b","a:80"," a","1"]`, `["5b2f4f0a-8c3e-4b7a-9d70-0d2a6f1c9e11"]`, `<html>`, `["\u0000"]`, `[["a"]]`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		entries, err := parseLocalNodes(body)
		if (entries == nil) != (err != nil) {
			t.Fatalf("%q: entries %q with error %v", body, entries, err)
		}
		for _, entry := range entries {
			if checkAddress(entry) != nil {
				continue
			}
			node, err := nodeAt("https", entry, "8043")
			if err != nil {
				t.Fatalf("%q passes for an address: %v", entry, err)
			}
			checkNode(t, entry, "https", node)
			if node.Port() != "8043" {
				t.Fatalf("%q: the port %s", entry, node.Port())
			}
		}
	})
}

// FuzzAddress takes addresses as a translation may return them. Whatever makes a
// node is a host, or a host and a port, and is dialled as such.
func FuzzAddress(f *testing.F) {
	for _, address := range []string{
		"10.0.0.1", "::1", "[::1]:80", "fe80::1%eth0", "[fe80::1%eth0]:80", "node.example:443", "a:", ":80", "[::1]",
		"http://x", "user@x:80", "a:80/b", "a:0", "a:65536", "a/b", "a?b:80", "127.1", "[a]:80", "fe80::1%25a",
	} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		node, err := nodeAt("http", address, "8000")
		if err != nil {
			if node != nil {
				t.Fatalf("%q: the node %s with error %v", address, node, err)
			}
			return
		}
		checkNode(t, address, "http", node)
		wantHost, wantPort := address, "8000"
		if host, port, err := net.SplitHostPort(address); err == nil {
			wantHost, wantPort = host, strings.TrimLeft(port, "0")
		}
		host, port, err := net.SplitHostPort(node.Host())
		if err != nil || host != wantHost || strings.TrimLeft(port, "0") != wantPort {
			t.Fatalf("%q: dials %s (error %v), want %s and %s", address, node.Host(), err, wantHost, wantPort)
		}
		if _, err := netip.ParseAddr(host); err != nil && !hostName.MatchString(host) {
			t.Fatalf("%q: dials the host %q", address, host)
		}
	})
}
