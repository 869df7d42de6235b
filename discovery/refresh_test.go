package discovery

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRefreshNeedsAClient(t *testing.T) {
	n := newNodes(t, NodesConfig{}, oneSeed)
	if err := n.Refresh(t.Context()); !errors.Is(err, errNoClient) {
		t.Errorf("before Start: error %v, want %v", err, errNoClient)
	}
	n.Start(nil)
	if err := n.Refresh(t.Context()); !errors.Is(err, errNoClient) {
		t.Errorf("after a Start without a client: error %v, want %v", err, errNoClient)
	}
	counters, err := n.Counters()
	if want := (RefreshCounters{Changes: 1}); counters != want || err != nil {
		t.Errorf("counters %+v, %v, want %+v", counters, err, want)
	}
}

// TestRefreshLearnsAndProbes checks what a program that calls Refresh at its
// start relies on: when it returns, the whole cluster is listed and active.
func TestRefreshLearnsAndProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.set(after(time.Second, lists("10.0.0.1", "10.0.0.2", "10.0.0.3")), "10.0.0.1")
		c.set(after(3*time.Second, lists("10.0.0.1")), "10.0.0.2", "10.0.0.3")
		n := newNodes(t, NodesConfig{}, oneSeed)
		n.Start(c)
		synctest.Wait() // the loop refreshes first, and probes while Refresh fetches
		if err := n.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantRing(t, n, endpoints("10.0.0.1", "10.0.0.2", "10.0.0.3")...)
		for _, s := range n.Statuses() {
			if s.State != Active || s.SuspectedFor != 0 {
				t.Errorf("%+v after Refresh, want it active", s)
			}
		}
		// The background loop and Refresh find the new nodes together, and ask
		// each of them once.
		polls := c.taken()
		for _, host := range []string{"10.0.0.2", "10.0.0.3"} {
			if got := times(polls, host, time.Now()); len(got) != 1 {
				t.Errorf("%s was asked %d times", host, len(got))
			}
		}
	})
}

func TestRefreshHonoursItsContext(t *testing.T) {
	cause := errors.New("enough")
	for _, c := range []struct {
		name    string
		context func(context.Context) (context.Context, context.CancelFunc)
		want    error
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.DeadlineExceeded},
		{"cancelled with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			stop := time.AfterFunc(time.Second, func() { cancel(cause) })
			return ctx, func() { stop.Stop() }
		}, cause},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFakeCluster()
				fake.set(hangs, "10.0.0.1")
				n := newNodes(t, NodesConfig{}, oneSeed)
				n.Start(fake)
				start := time.Now()

				// While the loop's own refresh runs, and after it timed out.
				for _, begin := range []time.Duration{0, 6 * time.Second} {
					time.Sleep(begin)
					ctx, cancel := c.context(t.Context())
					begun := time.Now()
					err := n.Refresh(ctx)
					cancel()
					if took := time.Since(begun); !errors.Is(err, c.want) || took != time.Second {
						t.Errorf("error %v after %v, want %v after 1 s", err, took, c.want)
					}
				}
				// The caller's deadline is nothing that the node did: only the
				// loop's own refresh, which took its whole time, counts.
				counters, err := n.Counters()
				if counters.Refreshes != 1 || counters.Failures != 1 || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("counters %+v, %v", counters, err)
				}
				until := start.Add(6 * time.Second) // suspected for a second when 5 s were over
				if m := n.View().Member(0); m.Preference() != PreferQuarantined || !time.Now().After(until) {
					t.Errorf("preference %d at %v", m.Preference(), time.Since(start))
				}
			})
		})
	}
}

// TestRefreshReturnsWhenNewNodesHang checks that the list is taken even if the
// time does not suffice to hear of each new node.
func TestRefreshReturnsWhenNewNodesHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.set(lists("10.0.0.1", "10.0.0.2"), "10.0.0.1")
		c.set(hangs, "10.0.0.2")
		n := newNodes(t, NodesConfig{}, oneSeed)
		n.Start(c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := n.Refresh(ctx); err != nil {
			t.Errorf("Refresh: %v, want none: there was a good answer", err)
		}
		wantRing(t, n, endpoints("10.0.0.1", "10.0.0.2")...)
		if got := memberOf(t, n, "http://10.0.0.2:8000").Preference(); got != PreferQuarantined {
			t.Errorf("the node that hangs has preference %d", got)
		}
		time.Sleep(4*time.Second + time.Millisecond) // the probe goes on without the caller
		if got := memberOf(t, n, "http://10.0.0.2:8000").Preference(); got != PreferSuspected {
			t.Errorf("the node that hung has preference %d", got)
		}
	})
}

func TestFailuresAreLoggedOnceInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, log := newFakeCluster(), &logs{}
		n := newNodes(t, NodesConfig{Logger: log}, oneSeed)
		n.Start(c)
		synctest.Wait()
		refresh := func() {
			t.Helper()
			if err := n.Refresh(t.Context()); err == nil {
				t.Fatal("Refresh succeeded")
			}
		}
		const line = "WARN keyroute: the list of live nodes stays as it was, refreshing it failed: " +
			"scope cluster: connection refused"
		refresh()
		refresh()
		if got := log.with(""); !slices.Equal(got, []string{line}) {
			t.Errorf("logged %q, want %q", got, line)
		}
		if counters, err := n.Counters(); counters.Failures != 3 || !errors.Is(err, errRefused) {
			t.Errorf("counters %+v, %v", counters, err)
		}

		c.setDatacenter("10.0.0.1")
		if err := n.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Counters(); err != nil {
			t.Errorf("the last error is %v after a success", err)
		}
		c.set(answers(http.StatusInternalServerError, ""), "10.0.0.1")
		refresh()
		refresh()
		if got := log.with("refreshing it failed"); len(got) != 2 || !strings.Contains(got[1], "http://10.0.0.1:8000/localnodes answered with status 500") {
			t.Errorf("logged %q, want a second line for the second failure", got)
		}
		wantRing(t, n, oneSeed)
	})
}

// TestACallerThatGivesUpIsNoFailure checks that a refresh that was cut short is
// neither counted nor logged, nor held against the node.
func TestACallerThatGivesUpIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, log := newFakeCluster(), &logs{}
		c.setDatacenter("10.0.0.1")
		n := newNodes(t, NodesConfig{Logger: log}, oneSeed)
		n.Start(c)
		synctest.Wait()
		c.set(hangs, "10.0.0.1")
		before, _ := n.Counters()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := n.Refresh(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if err := n.Refresh(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v with a context that is over", err)
		}
		if after, err := n.Counters(); after != before || err != nil || len(log.with("")) != 0 {
			t.Errorf("counters %+v, %v, want %+v; logged %q", after, err, before, log.with(""))
		}
		if m := n.View().Member(0); m.Preference() != PreferActive {
			t.Errorf("preference %d", m.Preference())
		}
	})
}

func TestAllNodesOfTheRingAreDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.setDatacenter("10.0.0.1", "10.0.0.2", "10.0.0.3")
		n := newNodes(t, NodesConfig{Scope: Datacenter("dc1")}, oneSeed)
		c.set(listsBy(map[string][]string{"dc=dc1": {"10.0.0.1", "10.0.0.2", "10.0.0.3"}}), "10.0.0.1")
		n.Start(c)
		if err := n.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.set(hangs, "10.0.0.1", "10.0.0.2", "10.0.0.3")
		for _, m := range n.View().members {
			for range 10 {
				n.Report(m, TrafficFailure, m.Generation())
			}
		}
		time.Sleep(time.Hour)
		wantRing(t, n, endpoints("10.0.0.1", "10.0.0.2", "10.0.0.3")...)
		for _, m := range n.View().members {
			if m.Preference() != PreferDown {
				t.Errorf("%s has preference %d", m.Node(), m.Preference())
			}
		}
		c.setDatacenter("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")
		n.MarkUsed()
		time.Sleep(2*time.Minute + 20*time.Second) // four probes, and what ran when they came back
		for _, s := range n.Statuses() {
			if s.State != Active {
				t.Errorf("%+v, want it active again", s)
			}
		}
		wantRing(t, n, endpoints("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")...)
	})
}

// TestARefreshOfABigCluster checks that a thousand nodes, a tenth of them dead,
// are listed at once and asked in the background.
func TestARefreshOfABigCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const nodes, dead = 1000, 100
		c := newFakeCluster()
		all := manyAddresses(nodes)
		c.set(lists(all...), all[0])
		c.set(lists("10.0.0.1"), all[1:nodes-dead]...) // which is not asked for more than a probe
		c.set(hangs, all[nodes-dead:]...)
		n := newNodes(t, NodesConfig{}, "http://"+all[0]+":8000")
		n.Start(c)
		synctest.Wait()
		if got := n.View().Ring.Len(); got != nodes {
			t.Fatalf("%d nodes, want %d", got, nodes)
		}
		time.Sleep(dead/maxParallel*5*time.Second + time.Second)
		states := map[State]int{}
		for _, s := range n.Statuses() {
			states[s.State]++
		}
		if states[Active] != nodes-dead || states[Quarantined] != dead {
			t.Errorf("states %v, want %d active and %d quarantined", states, nodes-dead, dead)
		}
		if most := c.atATime(); most > maxParallel+1 { // and a refresh
			t.Errorf("%d requests at a time", most)
		}
	})
}
