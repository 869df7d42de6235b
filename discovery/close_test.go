package discovery

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A bubble ends only if all its goroutines do, so each of these tests also
// checks that nothing is left.

func TestCloseStopsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.setDatacenter("10.0.0.1", "10.0.0.2")
		n := newNodes(t, NodesConfig{}, oneSeed)
		n.Start(c)
		if err := n.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := n.View()
		for range 3 {
			if err := n.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		c.taken()
		n.MarkUsed()
		n.Report(before.Member(0), TrafficFailure, 0)
		n.Start(c)
		if err := n.Refresh(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("Refresh after Close: error %v", err)
		}
		time.Sleep(time.Hour)
		if polls := c.taken(); len(polls) != 0 {
			t.Errorf("asked %v after Close", polls)
		}
		if n.View() != before {
			t.Errorf("the ring is %q after Close", ring(n))
		}
	})
}

func TestCloseBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		n := newNodes(t, NodesConfig{}, oneSeed)
		if err := n.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
		n.Start(c)
		time.Sleep(time.Hour)
		if err := n.Refresh(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("Refresh: error %v", err)
		}
		if polls := c.taken(); len(polls) != 0 {
			t.Errorf("asked %v", polls)
		}
		wantRing(t, n, oneSeed)
	})
}

// TestCloseCancelsWhatRuns closes while a refresh and probes hang, from several
// goroutines, with a caller of Refresh waiting.
func TestCloseCancelsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.set(lists("10.0.0.1", "10.0.0.2", "10.0.0.3"), "10.0.0.1")
		c.set(hangs, "10.0.0.2", "10.0.0.3")
		n := newNodes(t, NodesConfig{}, oneSeed)
		n.Start(c)
		synctest.Wait() // the probes hang
		c.set(hangs, "10.0.0.1")
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() {
				if err := n.Refresh(context.Background()); !errors.Is(err, errClosed) {
					t.Errorf("Refresh: error %v, want %v", err, errClosed)
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		for range 5 {
			calls.Go(func() {
				if err := n.Close(context.Background()); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
		}
		calls.Wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
		for _, m := range n.View().members {
			if m.Preference() == PreferSuspected {
				t.Errorf("%s is suspected: that it was not waited for is not its fault", m.Node())
			}
		}
	})
}

// TestCloseDoesNotWaitForever checks that Close returns when its context is done
// although an HTTP client ignores its own, and that it can be called again.
func TestCloseDoesNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		c := newFakeCluster()
		c.set(func(*http.Request) (*http.Response, error) {
			<-released
			return nil, errRefused
		}, "10.0.0.1")
		n := newNodes(t, NodesConfig{}, oneSeed)
		n.Start(c)
		synctest.Wait()

		cause := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		start := time.Now()
		if err := n.Close(ctx); !errors.Is(err, cause) || time.Since(start) != time.Second {
			t.Errorf("Close: error %v after %v, want %v after 1 s", err, time.Since(start), cause)
		}
		if err := n.Close(ctx); !errors.Is(err, cause) {
			t.Errorf("Close again: error %v, want %v", err, cause)
		}
		close(released)
		if err := n.Close(t.Context()); err != nil {
			t.Errorf("Close at last: %v", err)
		}
	})
}

// TestStartAndCloseTogether is for the race detector.
func TestStartAndCloseTogether(t *testing.T) {
	for range 50 {
		c := newFakeCluster()
		c.setDatacenter("10.0.0.1")
		n := newNodes(t, NodesConfig{}, oneSeed)
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() { n.Start(c) })
			calls.Go(func() {
				if err := n.Close(context.Background()); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			calls.Go(func() {
				if err := n.Refresh(context.Background()); err != nil && !errors.Is(err, errClosed) && !errors.Is(err, errNoClient) {
					t.Errorf("Refresh: %v", err)
				}
			})
		}
		calls.Wait()
	}
}

// TestALaterStartReplacesTheClient checks that nothing is started twice.
func TestALaterStartReplacesTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newFakeCluster(), newFakeCluster()
		first.setDatacenter("10.0.0.1")
		second.setDatacenter("10.0.0.1")
		n := newNodes(t, NodesConfig{HealthDisabled: true}, oneSeed)
		n.Start(first)
		synctest.Wait()
		n.Start(second)
		n.Start(second)
		first.taken()
		time.Sleep(67 * time.Second)
		if polls := first.taken(); len(polls) != 0 {
			t.Errorf("the first client is still used: %v", polls)
		}
		if polls := second.taken(); len(polls) != 1 {
			t.Errorf("%d refreshes in a minute, want 1", len(polls))
		}
	})
}
