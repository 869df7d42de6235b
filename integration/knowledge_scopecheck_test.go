package integration

import (
	"strings"
	"testing"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

func TestCheckScope(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, twoDatacenters)
	for name, test := range map[string]struct {
		scope discovery.Scope
		want  []string // in the error
		not   []string
	}{
		"cluster":             {scope: discovery.Cluster()},
		"datacenter":          {scope: discovery.Datacenter("dc2")},
		"rack with fallbacks": {scope: rackFirst},
		"unknown datacenter":  {scope: discovery.Datacenter("dc9"), want: []string{"datacenter:dc9", "no live node"}},
		"unknown rack": {scope: discovery.Rack("dc1", "r9", discovery.Datacenter("dc1")),
			want: []string{"rack:dc1/r9", "no live node"}, not: []string{"datacenter:dc1"}},
		"unknown fallback": {scope: discovery.Rack("dc1", "r1", discovery.Datacenter("DC1", discovery.Cluster())),
			want: []string{"datacenter:DC1"}, not: []string{"rack:dc1/r1"}},
		"all unknown": {scope: discovery.Rack("dc9", "r9", discovery.Datacenter("dc9")),
			want: []string{"rack:dc9/r9", "datacenter:dc9"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlugin(t, c, quiet, scope(test.scope))
			c.Client(p.Attach)
			wantScopeError(t, p, test.want, test.not)
		})
	}
}

// wantScopeError checks a scope whose error must have some parts, and no others;
// without parts there must be none.
func wantScopeError(t *testing.T, p *middleware.Plugin, parts, not []string) {
	t.Helper()
	err := p.CheckScope(deadline(t))
	if (err != nil) != (len(parts) > 0) {
		t.Errorf("CheckScope returned %v, want an error: %v", err, len(parts) > 0)
	}
	if err == nil {
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error has no %q: %v", part, err)
		}
	}
	for _, part := range not {
		if strings.Contains(err.Error(), part) {
			t.Errorf("the error has %q: %v", part, err)
		}
	}
}

func TestCheckScopeTellsWhenItCannotTell(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(1))
	dc1 := scope(discovery.Datacenter("dc1"))

	unattached := newPlugin(t, c, dc1)
	wantScopeError(t, unattached, []string{"not attached"}, nil)

	closed := newPlugin(t, c, dc1)
	c.Client(closed.Attach)
	closePlugin(t, closed)
	wantScopeError(t, closed, []string{"closed"}, nil)

	disabled := newPlugin(t, c, dc1, func(o *middleware.Options) { o.Disabled = true })
	c.Client(disabled.Attach)
	wantScopeError(t, disabled, nil, nil)

	dead := newPlugin(t, c, dc1)
	c.Client(dead.Attach)
	c.Node(0).Refuse()
	wantScopeError(t, dead, []string{"datacenter:dc1", "connection refused"}, []string{"no live node"})
}

// Old servers answer with their whole datacenter, whatever they are asked for.
func TestServersThatIgnorePlaces(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, twoDatacenters, func(o *cluster.Options) { o.IgnorePlace = true })
	log := &logbook{}
	p := newPlugin(t, c, quiet, scope(rackFirst), log.option)
	attach(t, c, p)
	wantKnown(t, c, p, 0, 1, 2) // without regard to the rack
	for range 5 {
		refresh(t, p)
	}
	log.wantLines(t, "scope rack:dc1/r1: the cluster's servers ignore datacenter and rack")
	wantScopeError(t, p, []string{"rack:dc1/r1", "ignore datacenter and rack"}, nil)
	log.wantLines(t)
}

// Whether they do is found out once.
func TestServersThatHeedPlacesAreNotAskedAgain(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, twoDatacenters)
	log := &logbook{}
	p := newPlugin(t, c, quiet, scope(rackFirst), log.option)
	attach(t, c, p)
	c.Record(true)
	for range 5 {
		refresh(t, p)
	}
	for _, r := range c.Requests() {
		if r.RawQuery != "dc=dc1&rack=r1" {
			t.Errorf("asked with %q, want only the scope to be asked for", r.RawQuery)
		}
	}
	log.wantLines(t)
}
