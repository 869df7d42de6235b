package integration

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// places is an option for a cluster of one node in each of some places, such as
// "dc1/r1".
func places(list ...string) func(*cluster.Options) {
	return func(o *cluster.Options) {
		o.Nodes = len(list)
		o.Place = func(i int) (dc, rack string) {
			dc, rack, _ = strings.Cut(list[i], "/")
			return dc, rack
		}
	}
}

// twoDatacenters has nodes 0 and 1 in one rack, node 2 in another one of the
// same datacenter, and nodes 3 to 5 in another datacenter.
var twoDatacenters = places("dc1/r1", "dc1/r1", "dc1/r2", "dc2/r1", "dc2/r1", "dc2/r2")

// scope is an option for a plugin.
func scope(s discovery.Scope) func(*middleware.Options) {
	return func(o *middleware.Options) { o.Scope = s }
}

// seedsAt is an option for a plugin whose seeds are some nodes of a cluster.
func seedsAt(c *cluster.Cluster, nodes ...int) func(*middleware.Options) {
	return func(o *middleware.Options) {
		o.Seeds = nil
		for _, n := range nodes {
			o.Seeds = append(o.Seeds, c.Node(n).URL())
		}
	}
}

// rackFirst is a rack with its fallbacks.
var rackFirst = discovery.Rack("dc1", "r1", discovery.Datacenter("dc1", discovery.Cluster()))

func TestScopes(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, twoDatacenters)
	for name, test := range map[string]struct {
		scope discovery.Scope
		seeds []int
		want  []int
	}{
		"cluster with one seed":           {discovery.Cluster(), []int{4}, []int{3, 4, 5}}, // it only knows its own
		"cluster with a seed in each":     {discovery.Cluster(), []int{4, 1}, []int{0, 1, 2, 3, 4, 5}},
		"datacenter of the seed":          {discovery.Datacenter("dc1"), []int{0}, []int{0, 1, 2}},
		"datacenter of nobody":            {discovery.Datacenter("dc2"), []int{0}, []int{3, 4, 5}},
		"rack":                            {discovery.Rack("dc2", "r2"), []int{0}, []int{5}},
		"rack of the same name elsewhere": {discovery.Rack("dc1", "r1"), []int{3}, []int{0, 1}},
		"rack with fallbacks":             {rackFirst, []int{3}, []int{0, 1}},
		"unknown rack":                    {discovery.Rack("dc1", "r9", discovery.Datacenter("dc1")), []int{0}, []int{0, 1, 2}},
		"unknown datacenter": {discovery.Rack("dc9", "r1", discovery.Datacenter("dc9", discovery.Cluster())),
			[]int{0, 5}, []int{0, 1, 2, 3, 4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlugin(t, c, quiet, scope(test.scope), seedsAt(c, test.seeds...))
			attach(t, c, p)
			wantKnown(t, c, p, test.want...)
			wantRefreshes(t, p, 0, 2)
		})
	}
}

func TestEmptyScopesFallBackWithinOneRefresh(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, twoDatacenters)
	p := newPlugin(t, c, quiet, scope(rackFirst), seedsAt(c, 0, 3))
	attach(t, c, p)
	wantKnown(t, c, p, 0, 1)
	for _, step := range []struct {
		do   func()
		want []int
	}{
		{c.Node(1).Leave, []int{0}},
		{c.Node(0).Leave, []int{2}},
		{c.Node(2).Leave, []int{3, 4, 5}},
		{c.Node(2).Rejoin, []int{2}},
		{c.Node(0).Rejoin, []int{0}},
	} {
		step.do()
		refresh(t, p)
		wantKnown(t, c, p, step.want...)
	}

	// If all fallbacks are empty, too, what was known stays.
	c.DelistAll()
	err := p.Refresh(deadline(t))
	for _, name := range []string{"rack:dc1/r1", "datacenter:dc1", "cluster"} {
		if err == nil || !strings.Contains(err.Error(), "scope "+name+": ") {
			t.Errorf("the error is %v, want it to tell of the scope %s", err, name)
		}
	}
	wantKnown(t, c, p, 0)
	wantRefreshes(t, p, 1, 7)
}

// wantRefreshes checks how many refreshes failed so far, and how often the list
// became another one: a refresh that falls back neither fails nor changes it
// more than once. The seeds count as a change.
func wantRefreshes(t *testing.T, p *middleware.Plugin, failures, changes uint64) {
	t.Helper()
	if got := p.Stats().Refreshes; got.Failures != failures || got.Changes != changes {
		t.Errorf("%d refreshes failed and %d changed the list, want %d and %d", got.Failures, got.Changes, failures, changes)
	}
}

func TestFailuresFallBackWithinOneRefresh(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, twoDatacenters)
	var unanswered atomic.Int32 // how many of the parameters nobody answers for
	ask := through(c, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		for _, parameter := range []string{"rack", "dc"}[:unanswered.Load()] {
			if r.URL.Query().Has(parameter) {
				return nil, errors.New("broken off")
			}
		}
		return next.RoundTrip(r)
	})
	p := newPlugin(t, c, quiet, scope(rackFirst), seedsAt(c, 0, 3))
	unanswered.Store(1)
	attach(t, c, p, ask)
	wantKnown(t, c, p, 0, 1, 2)
	unanswered.Store(2)
	refresh(t, p)
	wantKnown(t, c, p, 0, 1, 2, 3, 4, 5)
	unanswered.Store(0)
	refresh(t, p)
	wantKnown(t, c, p, 0, 1)
	wantRefreshes(t, p, 0, 4)
}

// Other clients of a cluster have seeds in other datacenters, and must come to
// the same ring when one of those is cut off for a moment.
func TestADatacenterThatDoesNotAnswerStaysInTheCluster(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, twoDatacenters)
	p := newPlugin(t, c, quiet, seedsAt(c, 0, 3))
	attach(t, c, p)
	for i := 3; i < 6; i++ {
		c.Node(i).Inject(cluster.GarbleLocalNodes(500, "text/plain", "oops"))
	}
	c.Node(1).Leave()
	refresh(t, p)
	wantKnown(t, c, p, 0, 2, 3, 4, 5)
}

// Names of datacenters and racks arrive as they are, whatever they are made of.
func TestOddNamesOfPlaces(t *testing.T) {
	t.Parallel()
	const dc, rack = "a&b=c d", "r+1 %2F/ü#?"
	c := cluster.New(t, func(o *cluster.Options) {
		o.Place = func(i int) (string, string) { return []string{dc, dc, "dc1"}[i], []string{rack, "r2", "r1"}[i] }
	})
	c.Record(true)
	for _, test := range []struct {
		scope discovery.Scope
		rack  string
		want  []int
	}{
		{discovery.Datacenter(dc), "", []int{0, 1}},
		{discovery.Rack(dc, rack), rack, []int{0}},
	} {
		p := newPlugin(t, c, quiet, scope(test.scope), seedsAt(c, 2))
		c.ResetRequests()
		attach(t, c, p)
		wantKnown(t, c, p, test.want...)
		r := c.Requests()[0] // later ones may be about something else
		if r.Operation != cluster.LocalNodes {
			t.Fatalf("the first request was %s", r.Operation)
		}
		query, err := url.ParseQuery(r.RawQuery)
		if err != nil || query.Get("dc") != dc || query.Get("rack") != test.rack || strings.Contains(r.RawQuery, "+") {
			t.Errorf("scope %s: the server was asked with %q", test.scope, r.RawQuery)
		}
	}
}
