package discovery

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestCheckScope(t *testing.T) {
	dc1 := map[string][]string{"dc=dc1": {"10.0.0.1", "10.0.0.2"}, "dc=dc1&rack=r1": {"10.0.0.1"}}
	for _, c := range []struct {
		name  string
		scope Scope
		a     answer
		want  []string // in the error; nil for none
	}{
		{"the cluster", Cluster(), answers(500, ""), nil},
		{"all there", Rack("dc1", "r1", Datacenter("dc1", Cluster())), listsBy(dc1), nil},
		{"unknown rack", Rack("dc1", "r2", Datacenter("dc1")), listsBy(dc1), []string{"scope rack:dc1/r2: the cluster knows no live node there"}},
		{"two unknown ones", Rack("dc1", "r2", Datacenter("dc2")), listsBy(dc1), []string{"rack:dc1/r2", "datacenter:dc2"}},
		{"an old server", Datacenter("dc1"), lists("10.0.0.1"), []string{"scope datacenter:dc1: " + placeIgnored}},
		{"nobody answers", Datacenter("dc1"), refuses, []string{"scope datacenter:dc1: connection refused"}},
		{"no list", Datacenter("dc1"), answers(200, "null"), []string{"it is null"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake := newFakeCluster()
			fake.set(c.a, "10.0.0.1")
			n := newNodes(t, NodesConfig{Scope: c.scope}, oneSeed)
			if err := n.CheckScope(t.Context()); !errors.Is(err, errNoClient) {
				t.Errorf("without a client: error %v", err)
			}
			use(n, fake)
			err := n.CheckScope(t.Context())
			if (err == nil) != (c.want == nil) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			for _, want := range c.want {
				if err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q in it", err, want)
				}
			}
			if counters, _ := n.Counters(); counters.Refreshes != 0 {
				t.Errorf("counters %+v", counters)
			}
		})
	}
}

// TestAnIgnoredScopeIsLoggedOnce checks that a scope that means nothing to the
// servers is found out when they first answer.
func TestAnIgnoredScopeIsLoggedOnce(t *testing.T) {
	c, log := newFakeCluster(), &logs{}
	c.setDatacenter("10.0.0.1")
	n := newNodes(t, NodesConfig{Scope: Rack("dc1", "r1"), Logger: log, HealthDisabled: true}, oneSeed)
	use(n, c)
	for range 3 {
		if err := n.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantRing(t, n, oneSeed)
	if got, want := log.with(""), []string{"WARN keyroute: scope rack:dc1/r1: " + placeIgnored}; !slices.Equal(got, want) {
		t.Errorf("logged %q, want %q", got, want)
	}
	if polls := c.taken(); len(polls) != 4 {
		t.Errorf("%d polls, want 3 refreshes and one question", len(polls))
	}
}

// TestAQuestionWithoutAnAnswerIsAskedAgain checks that the scope is neither
// doubted nor trusted when the made-up rack could not be asked about.
func TestAQuestionWithoutAnAnswerIsAskedAgain(t *testing.T) {
	c, log := newFakeCluster(), &logs{}
	heeds := listsBy(map[string][]string{"dc=dc1": {"10.0.0.1"}})
	c.set(func(r *http.Request) (*http.Response, error) {
		if strings.Contains(r.URL.RawQuery, madeUpRack) {
			return nil, errRefused
		}
		return heeds(r)
	}, "10.0.0.1")
	n := newNodes(t, NodesConfig{Scope: Datacenter("dc1"), Logger: log, HealthDisabled: true}, oneSeed)
	use(n, c)
	asked := func() int {
		if err := n.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(c.taken())
	}
	first, second := asked(), asked()
	c.set(heeds, "10.0.0.1")
	third, fourth := asked(), asked()
	if got, want := []int{first, second, third, fourth}, []int{2, 2, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("polls per refresh %v, want %v", got, want)
	}
	if got := log.with(""); len(got) != 0 {
		t.Errorf("logged %q", got)
	}
}
