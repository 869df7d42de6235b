package discovery

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Two datacenters with a seed in each.
var (
	dc1   = []string{"10.0.1.1", "10.0.1.2", "10.0.1.3", "10.0.1.4"}
	dc2   = []string{"10.0.2.1", "10.0.2.2", "10.0.2.3", "10.0.2.4"}
	seed1 = "http://10.0.1.1:8000"
	seed2 = "http://10.0.2.1:8000"
)

// bothOf returns the ring of nodes of both datacenters.
func bothOf(one, two []string) []string { return endpoints(slices.Concat(one, two)...) }

// startTwoDatacenters returns nodes that know both of them. Nothing is refreshed
// but by the test.
func startTwoDatacenters(t *testing.T) (*Nodes, *fakeCluster) {
	t.Helper()
	c := newFakeCluster()
	c.setDatacenter(dc1...)
	c.setDatacenter(dc2...)
	n := newNodes(t, NodesConfig{HealthDisabled: true}, seed1, seed2)
	use(n, c)
	refresh(t, n)
	wantRing(t, n, bothOf(dc1, dc2)...)
	return n, c
}

func refresh(t *testing.T, n *Nodes) {
	t.Helper()
	if err := n.Refresh(t.Context()); err != nil {
		t.Errorf("Refresh: %v", err)
	}
}

func TestTheClusterIsAllSeedsDatacenters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { startTwoDatacenters(t) })
}

func TestSeedsOfOneDatacenterAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		// Gossip has not reached everybody yet.
		c.set(lists("10.0.1.1", "10.0.1.2", "10.0.1.2"), "10.0.1.1")
		c.set(lists("10.0.1.3", "10.0.1.1"), "10.0.1.2")
		n := newNodes(t, NodesConfig{HealthDisabled: true}, seed1, "http://10.0.1.2:8000")
		use(n, c)
		refresh(t, n)
		wantRing(t, n, endpoints("10.0.1.1", "10.0.1.2", "10.0.1.3")...)
		if len(n.groups) != 1 {
			t.Errorf("%d groups, want 1", len(n.groups))
		}
	})
}

func TestANodeThatLeavesIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startTwoDatacenters(t)
		c.setDatacenter(dc1[:3]...)
		refresh(t, n)
		wantRing(t, n, bothOf(dc1[:3], dc2)...)
		joined := append(slices.Clone(dc2), "10.0.2.9")
		c.setDatacenter(joined...)
		refresh(t, n)
		wantRing(t, n, bothOf(dc1[:3], joined)...)
	})
}

// TestASilentDatacenterStaysForAWhile checks that its last good list is kept for
// maxUnanswered, while the other one is kept current.
func TestASilentDatacenterStaysForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startTwoDatacenters(t)
		c.set(refuses, dc2...)
		c.setDatacenter(dc1[:3]...)
		time.Sleep(maxUnanswered - time.Second)
		refresh(t, n)
		wantRing(t, n, bothOf(dc1[:3], dc2)...)
		c.setDatacenter(dc1...)
		time.Sleep(time.Second)
		refresh(t, n)
		wantRing(t, n, endpoints(dc1...)...)

		c.setDatacenter(dc2...)
		refresh(t, n)
		wantRing(t, n, bothOf(dc1, dc2)...)
	})
}

// TestOneAnswerKeepsADatacenter checks that a datacenter that answers now and
// then is never dropped.
func TestOneAnswerKeepsADatacenter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startTwoDatacenters(t)
		for range 5 {
			c.set(refuses, dc2...)
			time.Sleep(maxUnanswered - time.Second)
			refresh(t, n)
			wantRing(t, n, bothOf(dc1, dc2)...)
			c.setDatacenter(dc2...)
			time.Sleep(time.Second)
			refresh(t, n)
			wantRing(t, n, bothOf(dc1, dc2)...)
		}
	})
}

// TestADatacenterWithoutItsSeedStaysCurrent checks that its other nodes are
// asked.
func TestADatacenterWithoutItsSeedStaysCurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startTwoDatacenters(t)
		c.set(refuses, dc2[0])
		rest := slices.Concat(dc2[1:], []string{"10.0.2.9"})
		c.setDatacenter(rest...)
		refresh(t, n)
		wantRing(t, n, bothOf(dc1, rest)...)
		time.Sleep(2 * maxUnanswered)
		refresh(t, n)
		wantRing(t, n, bothOf(dc1, rest)...)

		// Not even one seed is left.
		c.set(refuses, dc1[0])
		c.setDatacenter(dc1[1:]...)
		refresh(t, n)
		wantRing(t, n, bothOf(dc1[1:], rest)...)
	})
}

// TestTheOneNodeThatAnswersIsFound checks that a datacenter most of whose nodes
// are dead, its seed among them, stays in the ring: whom to ask is known by
// health.
func TestTheOneNodeThatAnswersIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		big := manyAddresses(20)
		c.setDatacenter(dc1...)
		c.setDatacenter(big...)
		n := newNodes(t, NodesConfig{}, seed1, "http://"+big[0]+":8000")
		n.Start(c)
		time.Sleep(time.Minute)
		c.set(hangs, big...)
		c.setDatacenter(big[19])
		for _, host := range big[:19] {
			observe(memberOf(t, n, "http://"+host+":8000"), TrafficFailure, 10)
		}
		want := endpoints(append(slices.Clone(dc1), big[19])...)
		refresh(t, n)
		wantRing(t, n, want...)
		time.Sleep(2 * maxUnanswered)
		wantRing(t, n, want...)
	})
}

// TestASilentDatacenterDoesNotHoldUpTheOther checks how long a refresh takes when
// a whole datacenter drops packets.
func TestASilentDatacenterDoesNotHoldUpTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startTwoDatacenters(t)
		c.set(hangs, dc2...)
		c.setDatacenter(dc1[:3]...)
		start := time.Now()
		refresh(t, n)
		wantRing(t, n, bothOf(dc1[:3], dc2)...)
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("a refresh took %v, want the seed's 5 s and those of its datacenter's others", took)
		}
	})
}

func TestNoDatacenterAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startTwoDatacenters(t)
		c.set(refuses, dc1...)
		c.set(refuses, dc2...)
		for range 5 {
			time.Sleep(maxUnanswered)
			if err := n.Refresh(t.Context()); err == nil {
				t.Error("Refresh succeeded")
			}
			wantRing(t, n, bothOf(dc1, dc2)...)
		}
		c.setDatacenter(dc1...)
		refresh(t, n) // the other one has been silent for too long
		wantRing(t, n, endpoints(dc1...)...)
	})
}

// TestDatacentersThatBecomeOneAreOneGroup checks that answers with a node in
// common are taken for one datacenter, also if they were two before.
func TestDatacentersThatBecomeOneAreOneGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startTwoDatacenters(t)
		both := slices.Concat(dc1, dc2)
		c.setDatacenter(both...)
		refresh(t, n)
		wantRing(t, n, bothOf(dc1, dc2)...)
		if len(n.groups) != 1 {
			t.Errorf("%d groups, want 1", len(n.groups))
		}
		c.setDatacenter(dc1...)
		c.setDatacenter(dc2...)
		refresh(t, n)
		wantRing(t, n, bothOf(dc1, dc2)...)
		if len(n.groups) != 2 {
			t.Errorf("%d groups, want 2", len(n.groups))
		}
	})
}

// TestAllSeedsAreAskedAFewAtATime checks that many seeds are no storm.
func TestAllSeedsAreAskedAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		seeds := manyAddresses(50)
		c.set(after(time.Second, lists(seeds...)), seeds...)
		n := newNodes(t, NodesConfig{HealthDisabled: true}, endpoints(seeds...)...)
		use(n, c)
		refresh(t, n)
		if got := hosts(c.taken()); !slices.Equal(got, slices.Sorted(slices.Values(seeds))) {
			t.Errorf("asked %q, want each seed once", got)
		}
		if most := c.atATime(); most != maxParallel {
			t.Errorf("%d at a time, want %d", most, maxParallel)
		}
	})
}
