package discovery

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyroute/keyroute/resolver"
)

func TestNodesAreTheSeedsAtFirst(t *testing.T) {
	n := newNodes(t, NodesConfig{}, "http://b:8000", "http://a:8000", "HTTP://A:8000")
	wantRing(t, n, "http://a:8000", "http://b:8000")
	if seeds := n.View().Seeds(); len(seeds) != 0 {
		t.Errorf("%d seeds outside the ring", len(seeds))
	}
	want := []string{"http://a:8000 quarantined", "http://b:8000 quarantined"}
	var got []string
	for _, s := range n.Statuses() {
		got = append(got, s.Endpoint+" "+s.State.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("statuses %q, want %q", got, want)
	}
	if counters, err := n.Counters(); counters != (RefreshCounters{Changes: 1}) || err != nil {
		t.Errorf("counters %+v, %v", counters, err)
	}
}

func TestNodesValidate(t *testing.T) {
	seeds := parseNodes(t, oneSeed)
	for _, c := range []struct {
		config NodesConfig
		want   string
	}{
		{NodesConfig{}, "there are no seeds"},
		{NodesConfig{Seeds: parseNodes(t, "http://a", "https://b")}, "the seeds http://a and https://b differ in their scheme"},
		{NodesConfig{Seeds: seeds, RefreshInterval: -1}, "interval or timeout is negative"},
		{NodesConfig{Seeds: seeds, IdleRefreshInterval: -1}, "interval or timeout is negative"},
		{NodesConfig{Seeds: seeds, Timeout: -1}, "interval or timeout is negative"},
		{NodesConfig{Seeds: seeds, ProbeInterval: -1}, "interval or timeout is negative"},
		{NodesConfig{Seeds: seeds, Health: Thresholds{ActiveFailures: -1}}, "a health threshold is negative"},
		{NodesConfig{Seeds: seeds, Health: Thresholds{DownRecoveries: -1}}, "a health threshold is negative"},
		{NodesConfig{Seeds: seeds, Health: Thresholds{QuarantinePromotion: -1}}, "a health threshold is negative"},
		{NodesConfig{Seeds: seeds, Health: Thresholds{QuarantineFailures: -1}}, "a health threshold is negative"},
		{NodesConfig{Seeds: seeds, Scope: Datacenter("")}, "needs the datacenter's name"},
	} {
		n, err := NewNodes(c.config)
		if n != nil || err == nil || !strings.HasPrefix(err.Error(), "keyroute: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q in it", err, c.want)
		}
	}
}

// TestNodesKeepTheirSeeds checks that the caller's slice is not held on to.
func TestNodesKeepTheirSeeds(t *testing.T) {
	seeds := parseNodes(t, "https://a:8043", "https://b:8043")
	n, err := NewNodes(NodesConfig{Seeds: seeds})
	if err != nil {
		t.Fatal(err)
	}
	seeds[0] = parseNodes(t, "http://evil:1")[0]
	if got := n.nodeOf("c").String(); got != "https://c:8043" {
		t.Errorf("an entry is the node %s", got)
	}
}

// TestAViewDoesNotChange holds on to views while the list changes under them.
func TestAViewDoesNotChange(t *testing.T) {
	c := newFakeCluster()
	n := newNodes(t, NodesConfig{HealthDisabled: true}, oneSeed)
	use(n, c)
	type held struct {
		view    *View
		ring    []*resolver.Node
		members []*Member
	}
	var views []held
	for i := range 20 {
		v := n.View()
		h := held{view: v, ring: v.Ring.Nodes()}
		for j := range v.Ring.Len() {
			h.members = append(h.members, v.Member(j))
			if v.Member(j).Node().String() != v.Ring.Node(j).String() {
				t.Fatalf("member %d is %s, the node is %s", j, v.Member(j).Node(), v.Ring.Node(j))
			}
		}
		views = append(views, h)
		c.set(lists(manyAddresses(20)[i:]...), "10.0.0.1")
		refresh(t, n)
	}
	for i, h := range views {
		if !slices.Equal(h.view.Ring.Nodes(), h.ring) || !slices.Equal(h.view.members, h.members) {
			t.Errorf("view %d changed", i)
		}
	}
}

func TestTheSameListIsNotPublishedAgain(t *testing.T) {
	c := newFakeCluster()
	n := newNodes(t, NodesConfig{HealthDisabled: true}, oneSeed)
	use(n, c)
	changes := func(addresses ...string) uint64 {
		before, _ := n.Counters()
		c.set(lists(addresses...), "10.0.0.1")
		refresh(t, n)
		after, _ := n.Counters()
		if after.Refreshes != before.Refreshes+1 || after.Failures != 0 {
			t.Errorf("counters %+v after %+v", after, before)
		}
		return after.Changes - before.Changes
	}
	if got := changes("10.0.0.1"); got != 0 {
		t.Errorf("%d changes to the seed alone", got)
	}
	if got := changes("10.0.0.2", "10.0.0.1"); got != 1 {
		t.Errorf("%d changes to two nodes, want 1", got)
	}
	v := n.View()
	if got := changes("10.0.0.1", "10.0.0.2", "10.0.0.1", "no/node"); got != 0 || n.View() != v {
		t.Errorf("%d changes in another order, with a repetition and an invalid entry", got)
	}
	if got := changes("10.0.0.2"); got != 1 {
		t.Errorf("%d changes when a node leaves, want 1", got)
	}
}

func TestSeedsOutsideTheRing(t *testing.T) {
	c := newFakeCluster()
	c.set(lists("10.0.0.1", "10.0.0.2"), "10.0.0.1", "any.node")
	n := newNodes(t, NodesConfig{}, "http://any.node:8000", oneSeed, "http://gone:8000")
	use(n, c)
	refresh(t, n)
	wantRing(t, n, endpoints("10.0.0.1", "10.0.0.2")...)
	var got []string
	for _, m := range n.View().Seeds() {
		got = append(got, fmt.Sprint(m.Node(), " ", m.State()))
	}
	if want := []string{"http://any.node:8000 active", "http://gone:8000 quarantined"}; !slices.Equal(got, want) {
		t.Errorf("seeds %q, want %q", got, want)
	}
	if got := n.Statuses(); len(got) != 2 {
		t.Errorf("statuses %+v, want those of the ring", got)
	}
}

func TestANodeKeepsItsHistory(t *testing.T) {
	c := newFakeCluster()
	n := newNodes(t, NodesConfig{}, oneSeed)
	use(n, c)
	c.setDatacenter("10.0.0.1", "10.0.0.2")
	refresh(t, n)
	m := memberOf(t, n, "http://10.0.0.2:8000")
	for range 10 {
		n.Report(m, TrafficFailure, m.Generation())
	}
	c.setDatacenter("10.0.0.1")
	refresh(t, n)
	wantRing(t, n, oneSeed)
	c.setDatacenter("10.0.0.1", "10.0.0.2")
	refresh(t, n)
	if again := memberOf(t, n, "http://10.0.0.2:8000"); again != m || again.State() != Down || again.Generation() != 1 {
		t.Errorf("the node came back as %+v", again.status())
	}
}

// TestHistoriesAreBounded lets a cluster change all its addresses again and
// again.
func TestHistoriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		n := newNodes(t, NodesConfig{}, oneSeed)
		use(n, c)
		seed := n.View().Member(0)
		most := 0
		for window := range slices.Chunk(manyAddresses(1000), 5) {
			c.setDatacenter(window...)
			c.set(lists(window...), "10.0.0.1")
			refresh(t, n)
			wantRing(t, n, endpoints(window...)...)
			most = max(most, len(n.members))
			for _, m := range n.View().all() {
				if n.members[m.Node().String()] != m {
					t.Fatalf("%s lost its history", m.Node())
				}
			}
			c.set(refuses, window...)
			time.Sleep(maxUnanswered)
		}
		if most <= 6 || most > 4*6+64 {
			t.Errorf("up to %d histories of 6 nodes", most)
		}
		if n.View().Seeds()[0] != seed {
			t.Error("the seed lost its history")
		}
	})
}

// TestNodesAreSharedSafely reads what others change, for the race detector.
func TestNodesAreSharedSafely(t *testing.T) {
	c := newFakeCluster()
	n := newNodes(t, NodesConfig{Health: Thresholds{ActiveFailures: 3}}, oneSeed)
	n.Start(c)
	all := manyAddresses(30)
	var others sync.WaitGroup
	for g := range 4 {
		others.Go(func() {
			for i := range 300 {
				v := n.View()
				for j := range v.Ring.Len() {
					m := v.Member(j)
					generation := m.Generation()
					_, _ = m.Preference(), m.State()
					n.MarkUsed()
					n.Report(m, Outcome((g+i+j)%5), generation)
				}
				n.Statuses()
				_, _ = n.Counters()
			}
		})
	}
	for i := range 20 {
		c.set(lists(all[i:i+10]...), "10.0.0.1")
		c.set(lists(all...), all...)
		refresh(t, n)
		want := endpoints(all[i : i+10]...)
		if got := ring(n); len(got) < 10 {
			t.Errorf("ring %q, want %q in it", got, want)
		}
	}
	others.Wait()
}
