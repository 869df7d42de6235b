package resolver_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/keyroute/keyroute/resolver"
)

func TestEndpointParts(t *testing.T) {
	for _, c := range []struct{ endpoint, canonical, scheme, host, port string }{
		{"http://n:8000", "http://n:8000", "http", "n:8000", "8000"},
		{"HTTPS://Node1.Example.COM:8043", "https://node1.example.com:8043", "https", "Node1.Example.COM:8043", "8043"},
		{"http://n", "http://n", "http", "n", ""},
		{"http://n:", "http://n", "http", "n", ""},
		{"http://n:80", "http://n", "http", "n:80", "80"},
		{"http://n:443", "http://n:443", "http", "n:443", "443"},
		{"https://n:443", "https://n", "https", "n:443", "443"},
		{"https://n:80", "https://n:80", "https", "n:80", "80"},
		{"http://n:65535", "http://n:65535", "http", "n:65535", "65535"},
		{"http://me:secret@n:1/path?query#fragment", "http://n:1", "http", "n:1", "1"},
		{"http://n?query", "http://n", "http", "n", ""},
		{"http://10.0.0.1:8000", "http://10.0.0.1:8000", "http", "10.0.0.1:8000", "8000"},
		{"http://node_1-a.local:8000", "http://node_1-a.local:8000", "http", "node_1-a.local:8000", "8000"},
		{"http://[2001:DB8::1]:8000", "http://[2001:db8::1]:8000", "http", "[2001:DB8::1]:8000", "8000"},
		{"http://[::1]", "http://[::1]", "http", "[::1]", ""},
		{"http://[::1]:", "http://[::1]", "http", "[::1]", ""},
		{"http://[::1]:80/", "http://[::1]", "http", "[::1]:80", "80"},
		{"https://[::ffff:10.0.0.1]:443", "https://[::ffff:10.0.0.1]", "https", "[::ffff:10.0.0.1]:443", "443"},
		{"http://bücher.example:8000", "http://bücher.example:8000", "http", "bücher.example:8000", "8000"},
	} {
		n, err := resolver.ParseNode(c.endpoint)
		if err != nil {
			t.Errorf("%q: %v", c.endpoint, err)
			continue
		}
		if n.String() != c.canonical || n.Scheme() != c.scheme || n.Host() != c.host || n.Port() != c.port {
			t.Errorf("%q is %q, scheme %q, host %q, port %q; want %q, %q, %q, %q",
				c.endpoint, n.String(), n.Scheme(), n.Host(), n.Port(), c.canonical, c.scheme, c.host, c.port)
		}
		if n.Spelling() != c.endpoint {
			t.Errorf("%q is spelled %q", c.endpoint, n.Spelling())
		}
	}
}

// TestEndpointZones: a zone stands after %25 in an endpoint, as in any URL, and
// after % where it is dialled.
func TestEndpointZones(t *testing.T) {
	for _, c := range []struct{ endpoint, canonical, host string }{
		{"http://[fe80::1%25eth0]:8000", "http://[fe80::1%25eth0]:8000", "[fe80::1%eth0]:8000"},
		{"http://[FE80::1%25en1]", "http://[fe80::1%25en1]", "[FE80::1%en1]"},
	} {
		n, err := resolver.ParseNode(c.endpoint)
		if err != nil {
			t.Errorf("%q: %v", c.endpoint, err)
			continue
		}
		if n.String() != c.canonical || n.Host() != c.host {
			t.Errorf("%q is %q, host %q; want %q, %q", c.endpoint, n.String(), n.Host(), c.canonical, c.host)
		}
		again, err := resolver.ParseNode(n.String())
		if err != nil {
			t.Errorf("canonical form of %q: %v", c.endpoint, err)
			continue
		}
		if again.String() != n.String() {
			t.Errorf("the canonical form of %q is %q", n, again)
		}
	}
}

func TestEndpointHostsThatDifferInCaseAreOneNode(t *testing.T) {
	ring := resolver.NewRing(parse(t, "http://Node:8000", "http://node:8000", "HTTP://NODE:8000")...)
	if ring.Len() != 1 || ring.Node(0).Spelling() != "http://Node:8000" {
		t.Errorf("%d nodes, the first %q; want one, http://Node:8000", ring.Len(), ring.Node(0).Spelling())
	}
}

func TestEndpointErrors(t *testing.T) {
	const (
		scheme  = "the scheme must be http or https"
		missing = "the host is missing"
		port    = "the port must be a number from 1 to 65535"
		badHost = "the host has a character that no host name has"
	)
	for _, c := range []struct{ endpoint, want string }{
		{"", scheme},
		{"n", scheme},
		{"n:8000", scheme},
		{"//n:8000", scheme},
		{"ftp://n:8000", scheme},
		{"localhost:8000", scheme},
		{"10.0.0.1:8000", "first path segment in URL cannot contain colon"},
		{" http://n", "first path segment in URL cannot contain colon"},
		{"://n", "missing protocol scheme"},
		{"http:", missing},
		{"http://", missing},
		{"http:///path", missing},
		{"http://:8000", missing},
		{"http:n:8000", missing},
		{"http://n:0", port},
		{"http://n:65536", port},
		{"http://n:99999999999999999999", port},
		{"http://[::1]:0", port},
		{"http://n:abc", `invalid port ":abc" after host`},
		{"http://n:-1", `invalid port ":-1" after host`},
		{"http://n:+1", `invalid port ":+1" after host`},
		{"http://[::1]8000", `invalid port "8000" after host`},
		{"http://n:80:90", badHost},
		{"http://::1", badHost},
		{"http://2001:db8::1:8000", badHost},
		{"http://a b", `invalid character " " in host name`},
		{"http://a%20b", `invalid URL escape "%20"`},
		{"http://a%b", `invalid URL escape "%b"`},
		{"http://a%25b", badHost},
		{"http://a\tb", "invalid control character in URL"},
		{"http://n\n", "invalid control character in URL"},
		{"http://a\x7fb", "invalid control character in URL"},
		{"http://n/%zz", `invalid URL escape "%zz"`},
		{"http://[::1", "missing ']' in host"},
		{"http://[fe80::1%eth0]", `invalid URL escape "%et"`},
		// Some versions of net/url see these before this package does, and say
		// it in words of their own.
		{"http://[::g]", ""},
		{"http://[]", ""},
		{"http://[n]", ""},
		{"http://[10.0.0.1]:8000", ""},
		{"http://[fe80::1%25]", ""},
		{"http://[fe80::1%25a%20b]", ""},
		{"http://[fe80::1%25a%25b]", ""},
		{"http://a[b", ""},
	} {
		n, err := resolver.ParseNode(c.endpoint)
		if err == nil {
			t.Errorf("%q is %q, want an error", c.endpoint, n)
			continue
		}
		prefix := fmt.Sprintf("keyroute: endpoint %q: ", c.endpoint)
		reason, named := strings.CutPrefix(err.Error(), prefix)
		if !named {
			t.Errorf("%q: error %q does not begin with %q", c.endpoint, err, prefix)
		}
		if !strings.Contains(reason, c.want) {
			t.Errorf("%q: error %q, want %q in it", c.endpoint, err, c.want)
		}
		if strings.Count(err.Error(), fmt.Sprintf("%q", c.endpoint)) != 1 && c.endpoint != "" {
			t.Errorf("%q: error %q repeats the endpoint", c.endpoint, err)
		}
	}
}

func TestEndpointErrorsKeepTheirCause(t *testing.T) {
	_, err := resolver.ParseNode("http://a%zz")
	var cause url.EscapeError
	if !errors.As(err, &cause) || string(cause) != "%zz" {
		t.Errorf("error %v, want one that wraps url.EscapeError %%zz", err)
	}
}

func TestEndpointPortsLoseLeadingZeros(t *testing.T) {
	for endpoint, want := range map[string][3]string{ // canonical form, what is dialled, port
		"http://n:08000":     {"http://n:8000", "n:8000", "8000"},
		"http://n:00080":     {"http://n", "n:80", "80"},
		"https://[::1]:0443": {"https://[::1]", "[::1]:443", "443"},
	} {
		n, err := resolver.ParseNode(endpoint)
		if err != nil {
			t.Errorf("%s: %v", endpoint, err)
			continue
		}
		if got := [3]string{n.String(), n.Host(), n.Port()}; got != want {
			t.Errorf("%s: %q, want %q", endpoint, got, want)
		}
	}
}

func TestEndpointErrorsHideTheUser(t *testing.T) {
	for _, endpoint := range []string{"ftp://me:secret@n", "http://me:secret@n:0", "http://me:sec%ret@n:x/p@q", "http://me:secret@"} {
		_, err := resolver.ParseNode(endpoint)
		if err == nil || strings.Contains(err.Error(), "sec") || strings.Contains(err.Error(), "//me") {
			t.Errorf("%s: error %v, want one without the password", endpoint, err)
		}
	}
}
