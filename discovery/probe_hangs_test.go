package discovery

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestARequestDoesNotOvertakeAProbe has a machine drop packets, so that the
// probe half way through a suspicion takes longer than the suspicion: nobody
// tries the node until the probe has found out.
func TestARequestDoesNotOvertakeAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startProbing(t, NodesConfig{}, "10.0.0.2")
		n.Start(c)
		time.Sleep(time.Minute)
		c.set(hangs, "10.0.0.2")
		m := memberOf(t, n, "http://10.0.0.2:8000")
		start := time.Now()
		n.Report(m, TrafficFailure, m.Generation())
		for range 600 {
			if m.Preference() != PreferSuspected {
				t.Fatalf("preference %d after %v", m.Preference(), time.Since(start))
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// TestAGoodProbeThatIsSlow leaves the suspicion as it was: over by then.
func TestAGoodProbeThatIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startProbing(t, NodesConfig{}, "10.0.0.2")
		n.Start(c)
		time.Sleep(time.Minute)
		m := memberOf(t, n, "http://10.0.0.2:8000")
		for _, delay := range []time.Duration{100 * time.Millisecond, 2 * time.Second} {
			c.set(after(delay, lists("10.0.0.1", "10.0.0.2")), "10.0.0.2")
			start := time.Now()
			n.Report(m, TrafficFailure, m.Generation())
			end := max(time.Second, 500*time.Millisecond+delay)
			time.Sleep(end - 1)
			synctest.Wait()
			if m.Preference() != PreferSuspected {
				t.Errorf("preference %d after %v", m.Preference(), time.Since(start))
			}
			time.Sleep(2 * time.Nanosecond)
			synctest.Wait()
			if m.Preference() != PreferActive || m.status().SuspectedFor != 0 {
				t.Errorf("%+v after %v", m.status(), time.Since(start))
			}
			m.Observe(TrafficSuccess, m.Generation())
		}
	})
}

// TestARequestThatSucceedsDuringAProbe ends the suspicion, whatever the probe
// finds.
func TestARequestThatSucceedsDuringAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c := startProbing(t, NodesConfig{}, "10.0.0.2")
		n.Start(c)
		time.Sleep(time.Minute)
		c.set(hangs, "10.0.0.2")
		m := memberOf(t, n, "http://10.0.0.2:8000")
		n.Report(m, TrafficFailure, m.Generation())
		time.Sleep(700 * time.Millisecond)
		m.Observe(TrafficSuccess, m.Generation())
		for range 100 {
			if m.Preference() != PreferActive {
				t.Fatalf("%+v", m.status())
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}
