package discovery

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const oneSeed = "http://10.0.0.1:8000"

// seedPolls returns when the only seed was asked, since start. Health is off in
// these tests, so that a poll is a refresh.
func seedPolls(c *fakeCluster, start time.Time) []time.Duration {
	return times(c.taken(), "10.0.0.1", start)
}

func startOneNode(t *testing.T) (*Nodes, *fakeCluster) {
	c := newFakeCluster()
	c.setDatacenter("10.0.0.1")
	n := newNodes(t, NodesConfig{HealthDisabled: true}, oneSeed)
	n.Start(c)
	synctest.Wait()
	return n, c
}

func TestNothingIsAskedBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.setDatacenter("10.0.0.1")
		n := newNodes(t, NodesConfig{HealthDisabled: true}, oneSeed)
		n.MarkUsed()
		n.Report(n.View().Member(0), TrafficFailure, 0)
		time.Sleep(time.Hour)
		if polls := c.taken(); len(polls) != 0 {
			t.Fatalf("asked %v before Start", polls)
		}
		start := time.Now()
		n.Start(c)
		synctest.Wait()
		if got := seedPolls(c, start); len(got) != 1 || got[0] != 0 {
			t.Errorf("asked after %v, want at once", got)
		}
	})
}

func TestRefreshEveryTenSecondsWhileUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		n, c := startOneNode(t)
		for range 1200 { // 10 minutes
			n.MarkUsed()
			time.Sleep(500 * time.Millisecond)
		}
		checkIntervals(t, seedPolls(c, start), 9*time.Second, 11*time.Second)
	})
}

func TestRefreshEveryMinuteWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, c := startOneNode(t)
		time.Sleep(2 * time.Hour)
		checkIntervals(t, seedPolls(c, start), 54*time.Second, 66*time.Second)
	})
}

// TestIdlenessIsNeverTheFasterRhythm checks that a long RefreshInterval alone
// makes the idle one as long.
func TestIdlenessIsNeverTheFasterRhythm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.setDatacenter("10.0.0.1")
		n := newNodes(t, NodesConfig{HealthDisabled: true, RefreshInterval: 10 * time.Minute}, oneSeed)
		start := time.Now()
		n.Start(c)
		time.Sleep(24 * time.Hour)
		checkIntervals(t, seedPolls(c, start), 9*time.Minute, 11*time.Minute)
	})
}

// checkIntervals checks that the time between any two polls is within bounds,
// and that it varies.
func checkIntervals(t *testing.T, at []time.Duration, least, most time.Duration) {
	t.Helper()
	if len(at) < 50 {
		t.Fatalf("%d refreshes", len(at))
	}
	shortest, longest := time.Duration(math.MaxInt64), time.Duration(0)
	for i := 1; i < len(at); i++ {
		interval := at[i] - at[i-1]
		shortest, longest = min(shortest, interval), max(longest, interval)
	}
	if shortest < least || longest > most {
		t.Errorf("intervals from %v to %v, want %v to %v", shortest, longest, least, most)
	}
	if longest-shortest < (most-least)/2 {
		t.Errorf("intervals from %v to %v vary too little", shortest, longest)
	}
}

// TestUseEndsIdleness checks that the first request after a while is followed by
// a refresh within the short interval, whatever is left of the long one.
func TestUseEndsIdleness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startOneNode(t)
		time.Sleep(20 * time.Second)
		c.taken()
		used := time.Now()
		n.MarkUsed()
		time.Sleep(11 * time.Second)
		if got := seedPolls(c, used); len(got) != 1 {
			t.Errorf("%d refreshes in the 11 s after a use, want 1", len(got))
		}
		time.Sleep(42 * time.Second) // no use, no hurry
		if got := seedPolls(c, used); len(got) != 0 {
			t.Errorf("refreshed after %v, want nothing before 54 s of idleness", got)
		}
	})
}

func TestFaultsRefreshAtOnceButAtMostOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startOneNode(t)
		time.Sleep(5 * time.Second)
		c.taken()
		start := time.Now()
		m := n.View().Member(0)
		for range 99 {
			var reports sync.WaitGroup
			for range 100 {
				reports.Go(func() { n.Report(m, TrafficFailure, 0) })
			}
			reports.Wait()
			time.Sleep(100 * time.Millisecond)
		}
		got := seedPolls(c, start)
		if len(got) == 0 || got[0] != 0 {
			t.Fatalf("refreshed after %v, want at once", got)
		}
		if len(got) != 10 {
			t.Errorf("%d refreshes in 9.9 s of faults, want 10: %v", len(got), got)
		}
		for i := 1; i < len(got); i++ {
			if got[i]-got[i-1] < time.Second {
				t.Errorf("refreshes after %v and %v", got[i-1], got[i])
			}
		}
	})
}

// TestFaultsOfOneMomentAreOneRefresh checks that a burst that has to wait for its
// second is over with one refresh.
func TestFaultsOfOneMomentAreOneRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		n, c := startOneNode(t)
		m := n.View().Member(0)
		for range 5 {
			n.Report(m, TrafficFailure, 0)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(8 * time.Second)
		got := seedPolls(c, start)
		if len(got) != 2 || got[1] != time.Second {
			t.Errorf("refreshed after %v, want at 0 and 1 s", got)
		}
	})
}

// TestAFaultDuringARefreshIsNotLost checks that a fault that the running refresh
// may not have seen leads to another.
func TestAFaultDuringARefreshIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := newFakeCluster()
		c.set(after(2*time.Second, lists("10.0.0.1")), "10.0.0.1")
		n := newNodes(t, NodesConfig{HealthDisabled: true}, oneSeed)
		n.Start(c)
		time.Sleep(time.Second)
		n.Report(n.View().Member(0), TrafficFailure, 0)
		time.Sleep(5 * time.Second)
		got := seedPolls(c, start)
		if len(got) != 2 || got[1] != 3*time.Second {
			t.Errorf("refreshed after %v, want at 0 and 3 s, a second after the first was over", got)
		}
	})
}

func TestNeverTwoRefreshesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.set(after(time.Second, lists("10.0.0.1")), "10.0.0.1")
		n := newNodes(t, NodesConfig{HealthDisabled: true, RefreshInterval: time.Second}, oneSeed)
		n.Start(c)
		m := n.View().Member(0)
		var refreshes sync.WaitGroup
		for range 10 {
			refreshes.Go(func() {
				n.MarkUsed()
				n.Report(m, TrafficFailure, 0)
				if err := n.Refresh(t.Context()); err != nil {
					t.Errorf("Refresh: %v", err)
				}
			})
		}
		refreshes.Wait()
		if most := c.atATime(); most != 1 {
			t.Errorf("%d refreshes at a time", most)
		}
		if got := len(c.taken()); got < 11 {
			t.Errorf("%d refreshes, want those of 10 calls and of the loop", got)
		}
	})
}

func TestJitter(t *testing.T) {
	for _, d := range []time.Duration{1, 9, 10, 11, 19, 20, time.Millisecond, time.Minute, math.MaxInt64 / 2, math.MaxInt64 - 1, math.MaxInt64} {
		least := d - d/10
		most := time.Duration(math.MaxInt64)
		if d <= math.MaxInt64-d/10 {
			most = d + d/10
		}
		for range 1000 {
			if got := jitter(d); got < least || got > most {
				t.Fatalf("jitter(%d) = %d", d, got)
			}
		}
	}
}

// TestIntervalsWithoutEnd checks that the longest durations there are mean never
// and not always.
func TestIntervalsWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.setDatacenter("10.0.0.1")
		n := newNodes(t, NodesConfig{
			RefreshInterval: math.MaxInt64, IdleRefreshInterval: math.MaxInt64,
			Timeout: math.MaxInt64, ProbeInterval: math.MaxInt64,
		}, oneSeed)
		n.Start(c)
		n.MarkUsed()
		time.Sleep(24 * time.Hour)
		if got := hosts(c.taken()); len(got) != 1 {
			t.Errorf("%d polls in a day, want the one at the start", len(got))
		}
	})
}
