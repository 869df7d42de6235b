package discovery

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// A Scope says which of a cluster's nodes take requests. The zero value is the
// whole cluster.
type Scope struct {
	kind       scopeKind
	datacenter string
	rack       string
	fallback   *Scope
}

type scopeKind uint8

const (
	clusterScope scopeKind = iota
	datacenterScope
	rackScope
)

// Cluster is the scope of all nodes. A node only lists those of its own
// datacenter, so a cluster of several needs a seed in each.
func Cluster() Scope { return Scope{} }

// Datacenter is the scope of one datacenter's nodes. When no node of the
// cluster answers for it, or every answer is empty, the fallback is used, if
// one is given; only the first is.
func Datacenter(name string, fallback ...Scope) Scope {
	return Scope{kind: datacenterScope, datacenter: name, fallback: first(fallback)}
}

// Rack is the scope of one rack's nodes, with a fallback as for [Datacenter].
// Mind that a client whose list of nodes differs from another's prefers other
// coordinators: keys that are written from several racks meet at one
// coordinator only if all clients use the same scope.
func Rack(datacenter, rack string, fallback ...Scope) Scope {
	return Scope{kind: rackScope, datacenter: datacenter, rack: rack, fallback: first(fallback)}
}

func first(scopes []Scope) *Scope {
	if len(scopes) == 0 {
		return nil
	}
	scope := scopes[0]
	return &scope
}

// query is what /localnodes is asked with, encoded. A space is not made a plus,
// which not every server takes for one.
func (s Scope) query() string {
	values := url.Values{}
	if s.kind != clusterScope {
		values.Set("dc", s.datacenter)
	}
	if s.kind == rackScope {
		values.Set("rack", s.rack)
	}
	return strings.ReplaceAll(values.Encode(), "+", "%20")
}

// Validate returns an error that names what is missing.
func (s Scope) Validate() error {
	switch {
	case s.kind != clusterScope && s.datacenter == "":
		return errors.New("keyroute: a datacenter or rack scope needs the datacenter's name")
	case s.kind == rackScope && s.rack == "":
		return fmt.Errorf("keyroute: the rack scope of datacenter %q needs the rack's name", s.datacenter)
	}
	if s.fallback != nil {
		return s.fallback.Validate()
	}
	return nil
}

// String returns the scope as [ParseScope] reads it.
func (s Scope) String() string {
	if s.fallback == nil {
		return s.name()
	}
	return s.name() + "," + s.fallback.String()
}

func (s Scope) name() string {
	switch s.kind {
	case datacenterScope:
		return "datacenter:" + url.PathEscape(s.datacenter)
	case rackScope:
		return "rack:" + url.PathEscape(s.datacenter) + "/" + url.PathEscape(s.rack)
	}
	return "cluster"
}

// ParseScope returns the scope with a name: "cluster", "datacenter:dc1" or
// "rack:dc1/r1", followed by its fallbacks, each after a comma:
// "rack:dc1/r1,datacenter:dc1,cluster". A comma, slash, percent sign or space
// in the name of a datacenter or rack is written as in a URL, "%2C" for
// example. The error names what it was given.
func ParseScope(text string) (Scope, error) {
	scope, err := parseScopes(text)
	if err == nil {
		err = scope.Validate()
	}
	if err != nil {
		return Scope{}, fmt.Errorf("keyroute: scope %q: %w", text, err)
	}
	return scope, nil
}

func parseScopes(text string) (Scope, error) {
	name, rest, more := strings.Cut(text, ",")
	scope, err := parseScopeName(name)
	if err == nil && more {
		var fallback Scope
		fallback, err = parseScopes(rest)
		scope.fallback = &fallback
	}
	return scope, err
}

func parseScopeName(name string) (Scope, error) {
	kind, place, _ := strings.Cut(name, ":")
	datacenter, rack, inRack := strings.Cut(place, "/")
	datacenter, err := url.PathUnescape(datacenter)
	if err != nil {
		return Scope{}, err
	}
	if rack, err = url.PathUnescape(rack); err != nil {
		return Scope{}, err
	}
	switch {
	case name == "cluster":
		return Cluster(), nil
	case kind == "datacenter" && !inRack:
		return Datacenter(datacenter), nil
	case kind == "rack":
		return Rack(datacenter, rack), nil
	}
	return Scope{}, errors.New("must be cluster, datacenter:NAME or rack:DATACENTER/NAME, and fallbacks after commas")
}

// MarshalText returns the scope as [ParseScope] reads it.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the scope with [ParseScope].
func (s *Scope) UnmarshalText(text []byte) error {
	parsed, err := ParseScope(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}
