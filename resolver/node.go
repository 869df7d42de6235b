package resolver

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Node is one Alternator endpoint. It is immutable and safe for concurrent
// use; make one with [ParseNode].
type Node struct {
	canonical string
	spelling  string
	scheme    string
	host      string
	port      string
	named     bool
}

// ParseNode reads an endpoint, "scheme://host[:port]" with the scheme http or
// https. Anything after the port, and a user before the host, is accepted and
// dropped, so that all clients agree on which endpoints are one node; whether
// such an endpoint is acceptable as configuration is for the caller to say.
//
// The error names the endpoint, without a user's password, and what is wrong
// with it.
func ParseNode(endpoint string) (*Node, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // its text repeats the endpoint
		}
		return nil, fmt.Errorf("keyroute: endpoint %q: must be scheme://host[:port]: %w", withoutUser(endpoint), err)
	}
	scheme, host, port := strings.ToLower(u.Scheme), u.Hostname(), u.Port()
	inBrackets := strings.HasPrefix(u.Host, "[")
	switch {
	case scheme != "http" && scheme != "https":
		err = errors.New("the scheme must be http or https")
	case host == "":
		err = errors.New("the host is missing")
	case inBrackets && !isIPv6(host):
		err = errors.New("the host in brackets is not an IPv6 address")
	case !inBrackets && strings.ContainsFunc(host, isForeign):
		err = errors.New("the host has a character that no host name has")
	case port != "" && !isPort(port):
		err = errors.New("the port must be a number from 1 to 65535")
	}
	if err != nil {
		return nil, fmt.Errorf("keyroute: endpoint %q: %w", withoutUser(endpoint), err)
	}
	dialled := strings.TrimSuffix(u.Host, ":")
	if number := strings.TrimLeft(port, "0"); number != port {
		dialled, port = strings.TrimSuffix(dialled, port)+number, number
	}
	n := &Node{spelling: endpoint, scheme: scheme, host: dialled, port: port}
	n.named = !inBrackets && !isIPv4(host)
	canonical := strings.ToLower(host)
	if inBrackets {
		canonical = "[" + strings.Replace(canonical, "%", "%25", 1) + "]" // a zone, as URLs write it
	}
	n.canonical = scheme + "://" + canonical + canonicalPort(scheme, dialled, port)
	return n, nil
}

// canonicalPort returns the port with its colon, which is the end of host, or ""
// for the scheme's own.
func canonicalPort(scheme, host, port string) string {
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return ""
	}
	return host[len(host)-len(":")-len(port):]
}

// isIPv6 reports whether a host is an IPv6 address, with or without a zone.
func isIPv6(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Is6() && !strings.ContainsFunc(addr.Zone(), isForeign)
}

func isIPv4(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Is4()
}

// isForeign reports whether a character is one that net/url lets through in a
// host and no host name or zone has. Names that are not ASCII pass, for HTTP
// clients that know what to do with them.
func isForeign(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '.', r == '-', r == '_', 'A' <= r && r <= 'Z', r == '~':
		return false
	case r < utf8.RuneSelf || r == utf8.RuneError:
		return true
	}
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}

func isPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// withoutUser removes what stands before the host, which may be a password.
func withoutUser(endpoint string) string {
	scheme, rest, ok := strings.Cut(endpoint, "//")
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if !ok || at < 0 {
		return endpoint
	}
	return scheme + "//" + rest[at+1:]
}

// String returns the canonical endpoint: scheme and host in lower case, no
// user, path, query or fragment, no port that is the scheme's own, an IPv6 host
// in brackets. Two endpoints with one canonical form are one node, and nodes
// are ordered by it.
func (n *Node) String() string { return n.canonical }

// Spelling returns the endpoint as it was written when the node was made.
func (n *Node) Spelling() string { return n.spelling }

// Scheme returns "http" or "https".
func (n *Node) Scheme() string { return n.scheme }

// Port returns the port without leading zeros, or "" if none was written.
func (n *Node) Port() string { return n.port }

// Host returns what is dialled: the host as it was written, in brackets if it is
// an IPv6 address, with its port, without leading zeros, if one was written.
func (n *Node) Host() string { return n.host }

// IsNamed reports whether the host is a name, which has to be resolved before
// it is dialled, and not an IP address.
func (n *Node) IsNamed() bool { return n.named }
