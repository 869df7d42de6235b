package discovery

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// In these tests the seed lists the other nodes, so that whatever these are
// asked is a probe.

func startProbing(t *testing.T, config NodesConfig, others ...string) (*Nodes, *fakeCluster) {
	t.Helper()
	c := newFakeCluster()
	c.set(lists(append([]string{"10.0.0.1"}, others...)...), "10.0.0.1")
	c.set(lists("10.0.0.1"), others...)
	return newNodes(t, config, oneSeed), c
}

func wantTimes(t *testing.T, c *fakeCluster, host string, since time.Time, want ...time.Duration) {
	t.Helper()
	if got := times(c.taken(), host, since); !slices.Equal(got, want) {
		t.Errorf("%s was asked after %v, want %v", host, got, want)
	}
}

// seconds returns multiples of a second.
func seconds(of ...float64) []time.Duration {
	var list []time.Duration
	for _, s := range of {
		list = append(list, time.Duration(s*float64(time.Second)))
	}
	return list
}

func TestNewNodesAreProbedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startProbing(t, NodesConfig{}, "10.0.0.2", "10.0.0.3")
		start := time.Now()
		n.Start(c)
		synctest.Wait()
		for _, s := range n.Statuses() {
			if s.State != Active {
				t.Errorf("%+v", s)
			}
		}
		if counters, _ := n.Counters(); counters.Probes != 2 {
			t.Errorf("%d probes, want 2: the seed was asked anyway", counters.Probes)
		}
		wantTimes(t, c, "10.0.0.3", start, 0)

		time.Sleep(5 * time.Second)
		c.set(lists("10.0.0.1"), "10.0.0.4")
		c.set(lists("10.0.0.1", "10.0.0.4"), "10.0.0.1")
		refresh(t, n)
		if got := memberOf(t, n, "http://10.0.0.4:8000").State(); got != Active {
			t.Errorf("the node that joined is %s", got)
		}
		wantTimes(t, c, "10.0.0.4", start, 5*time.Second)

		time.Sleep(time.Hour) // active nodes are left alone
		wantTimes(t, c, "10.0.0.4", start)
	})
}

func TestAFewAreProbedAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		others := manyAddresses(10)
		n, c := startProbing(t, NodesConfig{IdleRefreshInterval: time.Hour}, others...)
		c.set(hangs, others...)
		start := time.Now()
		n.Start(c)
		time.Sleep(20 * time.Second)
		var at []time.Duration
		for _, p := range c.taken() {
			if p.host != "10.0.0.1" {
				at = append(at, p.at.Sub(start))
			}
		}
		// Then those are asked again that gave no answer.
		if want := seconds(0, 0, 0, 0, 5, 5, 5, 5, 10, 10); len(at) < len(want) || !slices.Equal(at[:len(want)], want) {
			t.Errorf("probes after %v, want %v first", at, want)
		}
		if most := c.atATime(); most != maxParallel {
			t.Errorf("%d at a time, want %d", most, maxParallel)
		}
	})
}

func TestNodesThatAreNotActiveAreProbedPeriodically(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startProbing(t, NodesConfig{}, "10.0.0.2")
		c.set(refuses, "10.0.0.2")
		start := time.Now()
		n.Start(c)
		time.Sleep(95 * time.Second)
		m := memberOf(t, n, "http://10.0.0.2:8000")
		if m.State() != Quarantined {
			t.Errorf("%s: probes take nobody down", m.State())
		}
		// Soon at first, in case its port was about to open, then every 15 s.
		wantTimes(t, c, "10.0.0.2", start, seconds(0, 0.5, 1.5, 3.5, 7.5, 15.5, 30.5, 45.5, 60.5, 75.5, 90.5)...)

		// Down, it needs three good probes for quarantine and a fourth to be active.
		observe(m, TrafficFailure, 3)
		if m.State() != Down {
			t.Fatalf("%s after three failures", m.State())
		}
		c.set(lists("10.0.0.1"), "10.0.0.2")
		var states []State
		for range 5 {
			states = append(states, m.State())
			time.Sleep(30 * time.Second)
		}
		if want := []State{Down, Down, Down, Quarantined, Active}; !slices.Equal(states, want) {
			t.Errorf("states %v, want %v", states, want)
		}
		wantTimes(t, c, "10.0.0.2", start, seconds(120, 150, 180, 210)...)
		if m.Preference() != PreferActive {
			t.Errorf("preference %d in the end", m.Preference())
		}
	})
}

func TestSeedsOutsideTheRingAreProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.set(listsBy(map[string][]string{"dc=dc1": {"10.0.0.1"}}), "10.0.0.1")
		c.set(answers(http.StatusInternalServerError, ""), "10.0.0.9")
		n := newNodes(t, NodesConfig{Scope: Datacenter("dc1"), IdleRefreshInterval: time.Hour}, oneSeed, "http://10.0.0.9:8000")
		n.Start(c)
		synctest.Wait()
		seed := n.View().Seeds()[0]
		if seed.State() != Quarantined || seed.Preference() != PreferSuspected {
			t.Errorf("%+v", seed.status())
		}
		c.taken()
		start := time.Now()
		c.set(lists("10.0.0.1"), "10.0.0.9")
		time.Sleep(31 * time.Second)
		if seed.Preference() != PreferActive {
			t.Errorf("%+v", seed.status())
		}
		wantTimes(t, c, "10.0.0.9", start, 500*time.Millisecond)
	})
}

// TestASuspectedNodeIsProbedHalfWay checks that a dead node is found dead by
// probes and costs no second request, until it is back.
func TestASuspectedNodeIsProbedHalfWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startProbing(t, NodesConfig{}, "10.0.0.2")
		n.Start(c)
		time.Sleep(time.Minute)
		c.taken()
		c.set(refuses, "10.0.0.2")
		m := memberOf(t, n, "http://10.0.0.2:8000")
		start := time.Now()
		n.Report(m, TrafficFailure, m.Generation())
		for range 300 {
			if m.Preference() != PreferSuspected {
				t.Fatalf("preference %d after %v", m.Preference(), time.Since(start))
			}
			time.Sleep(100 * time.Millisecond)
		}
		wantTimes(t, c, "10.0.0.2", start, seconds(0.5, 1.5, 3.5, 7.5, 15.5)...)

		c.set(lists("10.0.0.1"), "10.0.0.2")
		time.Sleep(time.Minute)
		wantTimes(t, c, "10.0.0.2", start, 30500*time.Millisecond)
		if m.Preference() != PreferActive {
			t.Errorf("%+v", m.status())
		}
	})
}

// TestAProbeThatHangsHoldsUpNobody checks that nodes are probed when it is their
// time although others drop packets.
func TestAProbeThatHangsHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startProbing(t, NodesConfig{}, "10.0.0.2", "10.0.0.3", "10.0.0.4")
		n.Start(c)
		time.Sleep(time.Minute + time.Second) // between two periods
		c.taken()
		c.set(hangs, "10.0.0.1", "10.0.0.2", "10.0.0.3") // as does the refresh
		start := time.Now()
		for i, host := range []string{"10.0.0.2", "10.0.0.3", "10.0.0.4"} {
			time.Sleep(time.Duration(i) * 100 * time.Millisecond)
			m := memberOf(t, n, "http://"+host+":8000")
			n.Report(m, TrafficFailure, m.Generation())
		}
		time.Sleep(3 * time.Second)
		polls := c.taken()
		for host, want := range map[string]time.Duration{
			"10.0.0.2": 500 * time.Millisecond, "10.0.0.3": 600 * time.Millisecond, "10.0.0.4": 800 * time.Millisecond,
		} {
			if got := times(polls, host, start); !slices.Equal(got, []time.Duration{want}) {
				t.Errorf("%s was asked after %v, want %v", host, got, want)
			}
		}
	})
}

// TestANodeIsProbedOnceAtATime lets periods pass while a probe hangs.
func TestANodeIsProbedOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startProbing(t, NodesConfig{ProbeInterval: time.Second, Timeout: 10 * time.Second}, "10.0.0.2")
		c.set(hangs, "10.0.0.2")
		start := time.Now()
		n.Start(c)
		for range 35 {
			signal(n.probeSoon)
			time.Sleep(time.Second)
		}
		got := times(c.taken(), "10.0.0.2", start)
		if len(got) < 3 || len(got) > 4 {
			t.Errorf("asked after %v, want every 10 or 11 s", got)
		}
		for i := 1; i < len(got); i++ {
			if got[i]-got[i-1] < 10*time.Second {
				t.Errorf("asked after %v and %v", got[i-1], got[i])
			}
		}
	})
}

func TestNothingIsProbedWithHealthDisabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startProbing(t, NodesConfig{HealthDisabled: true}, "10.0.0.2")
		n.Start(c)
		refresh(t, n)
		m := memberOf(t, n, "http://10.0.0.2:8000")
		c.set(refuses, "10.0.0.2")
		for range 20 {
			n.Report(m, TrafficFailure, m.Generation())
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		if m.Preference() != PreferActive {
			t.Errorf("%+v", m.status())
		}
		if counters, _ := n.Counters(); counters.Probes != 0 {
			t.Errorf("%d probes", counters.Probes)
		}
		if asked := hosts(c.taken()); slices.Contains(asked, "10.0.0.2") {
			t.Errorf("asked %q", asked)
		}
	})
}
