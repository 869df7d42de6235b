package discovery

import (
	"errors"
	"fmt"
	"net/url"
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
	return &scopes[0]
}

// query is what /localnodes is asked with.
func (s Scope) query() url.Values {
	values := url.Values{}
	if s.kind != clusterScope {
		values.Set("dc", s.datacenter)
	}
	if s.kind == rackScope {
		values.Set("rack", s.rack)
	}
	return values
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

// String returns the scope as text: "cluster", "datacenter dc1" or "rack dc1/r1",
// followed by its fallbacks.
func (s Scope) String() string {
	if s.fallback == nil {
		return s.name()
	}
	return s.name() + ", else " + s.fallback.String()
}

func (s Scope) name() string {
	switch s.kind {
	case datacenterScope:
		return "datacenter " + s.datacenter
	case rackScope:
		return "rack " + s.datacenter + "/" + s.rack
	}
	return "cluster"
}
