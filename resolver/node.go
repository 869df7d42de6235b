package resolver

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// A Node is one Alternator endpoint. It is immutable and safe for concurrent
// use; make one with [ParseNode].
type Node struct {
	canonical string
	spelling  string
	scheme    string
	host      string
	port      string
}

// ParseNode reads an endpoint, "scheme://host[:port]" with the scheme http or
// https. Anything after the port, and a user before the host, is accepted and
// dropped, so that all clients agree on which endpoints are one node; whether
// such an endpoint is acceptable as configuration is for the caller to say.
//
// The error names the endpoint and what is wrong with it.
func ParseNode(endpoint string) (*Node, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // its text repeats the endpoint
		}
		return nil, fmt.Errorf("keyroute: endpoint %q: %w", endpoint, err)
	}
	scheme := strings.ToLower(u.Scheme)
	if scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("keyroute: endpoint %q: the scheme must be http or https", endpoint)
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("keyroute: endpoint %q: the host is missing", endpoint)
	}
	if err := checkHost(u); err != nil {
		return nil, fmt.Errorf("keyroute: endpoint %q: %w", endpoint, err)
	}
	port := u.Port()
	if port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, fmt.Errorf("keyroute: endpoint %q: the port must be a number from 1 to 65535", endpoint)
		}
	}
	return &Node{
		canonical: scheme + "://" + canonicalHost(u, scheme),
		spelling:  endpoint,
		scheme:    scheme,
		host:      strings.TrimSuffix(u.Host, ":"),
		port:      port,
	}, nil
}

// checkHost refuses what net/url lets through but nobody can dial.
func checkHost(u *url.URL) error {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		if addr, err := netip.ParseAddr(host); err != nil || !addr.Is6() {
			return errors.New("the host in brackets is not an IPv6 address")
		}
		return nil
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ':' }) {
		return errors.New("the host has a character that no host name has")
	}
	return nil
}

// canonicalHost is the host in lower case, an IPv6 address in its brackets, and
// the port unless it is the scheme's own.
func canonicalHost(u *url.URL, scheme string) string {
	host := strings.ToLower(u.Hostname())
	if strings.HasPrefix(u.Host, "[") {
		host = "[" + host + "]"
	}
	port := u.Port()
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return host
	}
	return host + ":" + port
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

// Port returns the port as it was written, or "" for the scheme's own.
func (n *Node) Port() string { return n.port }

// Host returns what is dialled and signed: the host as it was written, in
// brackets if it is an IPv6 address, with its port if one was written.
func (n *Node) Host() string { return n.host }
