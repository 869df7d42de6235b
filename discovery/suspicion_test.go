package discovery

import (
	"testing"
	"testing/synctest"
	"time"
)

// wantSuspected checks that a node is passed over for a time, to the
// nanosecond, and not for longer. The time passes.
func wantSuspected(t *testing.T, m *Member, d time.Duration) {
	t.Helper()
	if got := m.status().SuspectedFor; got != d {
		t.Errorf("suspected for %v, want %v", got, d)
	}
	if d == 0 {
		if m.Preference() == PreferSuspected {
			t.Error("suspected")
		}
		return
	}
	time.Sleep(d - 1)
	if m.Preference() != PreferSuspected {
		t.Errorf("preference %d just before %v are over", m.Preference(), d)
	}
	time.Sleep(time.Nanosecond)
	if m.Preference() == PreferSuspected {
		t.Errorf("still suspected after %v", d)
	}
	if got := m.status().SuspectedFor; got != 0 {
		t.Errorf("suspected for %v when it is over", got)
	}
}

func TestSuspicionDoubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		thresholds := Thresholds{ActiveFailures: 1000}.withDefaults()
		m := newMember(parseNodes(t, oneSeed)[0], &thresholds)
		m.Observe(ProbeSuccess, 0)
		wantSuspected(t, m, 0)
		for _, d := range seconds(1, 2, 4, 8, 16, 30, 30) {
			m.Observe(TrafficFailure, 0)
			wantSuspected(t, m, d)
		}
		time.Sleep(time.Hour)
		m.Observe(TrafficFailure, 0) // it did not answer in the meantime
		wantSuspected(t, m, 30*time.Second)
		m.Observe(TrafficSuccess, 0)
		m.Observe(TrafficFailure, 0)
		wantSuspected(t, m, time.Second)
	})
}

func TestFailuresTogetherCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newActive(t)
		for range 4 {
			m.Observe(TrafficFailure, 0)
		}
		time.Sleep(300 * time.Millisecond)
		for range 4 {
			m.Observe(TrafficFailure, 0)
		}
		wantSuspected(t, m, 700*time.Millisecond)
		m.Observe(TrafficFailure, 0)
		wantSuspected(t, m, 2*time.Second)
	})
}

func TestAnAnswerEndsASuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newActive(t)
		m.Observe(TrafficFailure, 0)
		m.Observe(TrafficSuccess, 0)
		wantSuspected(t, m, 0)
		if m.Preference() != PreferActive {
			t.Errorf("preference %d", m.Preference())
		}
		if _, ok := m.untilProbe(false); ok {
			t.Error("a probe is due")
		}
	})
}

func TestAGoodProbeDoesNotEndASuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newActive(t)
		m.Observe(TrafficFailure, 0)
		m.Observe(ProbeSuccess, 0)
		if m.Preference() != PreferSuspected {
			t.Errorf("preference %d", m.Preference())
		}
		if _, ok := m.untilProbe(false); ok {
			t.Error("another probe is due")
		}
		wantSuspected(t, m, time.Second)
		m.Observe(TrafficFailure, 0) // nor is it forgotten
		wantSuspected(t, m, 2*time.Second)
	})
}

// TestAProbeThatBringsANodeBackEndsItsSuspicion checks that a node that was down
// starts afresh.
func TestAProbeThatBringsANodeBackEndsItsSuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newActive(t)
		for range 10 {
			observe(m, TrafficFailure, 1)
			time.Sleep(maxSuspicion)
		}
		observe(m, ProbeFailure, 1)
		observe(m, ProbeSuccess, 2)
		if s := m.status(); s.State != Down || s.SuspectedFor != maxSuspicion {
			t.Errorf("%+v, want it down and suspected", s)
		}
		observe(m, ProbeSuccess, 1)
		if m.Preference() != PreferQuarantined {
			t.Errorf("%+v after three good probes", m.status())
		}
		observe(m, ProbeFailure, 1)
		wantSuspected(t, m, time.Second)
		observe(m, ProbeSuccess, 1)
		if m.Preference() != PreferActive {
			t.Errorf("%+v after a good one", m.status())
		}
		observe(m, TrafficFailure, 1)
		wantSuspected(t, m, time.Second)
	})
}

func TestABadProbeProlongsASuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newActive(t)
		m.Observe(TrafficFailure, 0)
		for _, d := range seconds(1, 2, 4, 8, 16, 30, 30) {
			half := d / 2
			if until, ok := m.untilProbe(false); !ok || until != half {
				t.Errorf("a probe in %v, %t, want it after half of %v", until, ok, d)
			}
			time.Sleep(half)
			if until, ok := m.untilProbe(false); !ok || until > 0 {
				t.Errorf("half of %v is over, a probe is due in %v, %t", d, until, ok)
			}
			m.Observe(ProbeFailure, 0)
		}
		if m.record.failures != 1 || m.State() != Active {
			t.Errorf("%+v: probes tell nothing about an active node's state", m.record)
		}
		wantSuspected(t, m, 30*time.Second)
		if _, ok := m.untilProbe(false); ok {
			t.Error("a probe is due when the suspicion is over")
		}
	})
}

// TestProbesRightAfterAFailureCountWithIt checks that a refresh that asks a dead
// node several times does not multiply its suspicion.
func TestProbesRightAfterAFailureCountWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newActive(t)
		m.Observe(TrafficFailure, 0)
		for range 3 {
			m.Observe(ProbeFailure, 0)
		}
		time.Sleep(499 * time.Millisecond)
		m.Observe(ProbeFailure, 0)
		wantSuspected(t, m, 501*time.Millisecond)
	})
}

func TestABadProbeOfAnActiveNodeIsNoSuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newActive(t)
		m.Observe(ProbeFailure, 0)
		wantSuspected(t, m, 0)
	})
}

func TestABadProbeOfAQuarantinedNodeIsASuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		thresholds := Thresholds{}.withDefaults()
		m := newMember(parseNodes(t, oneSeed)[0], &thresholds)
		if m.Preference() != PreferQuarantined {
			t.Errorf("a new node has preference %d", m.Preference())
		}
		m.Observe(ProbeFailure, 0)
		if m.State() != Quarantined {
			t.Errorf("%s", m.State())
		}
		wantSuspected(t, m, time.Second)
		m.Observe(ProbeFailure, 0)
		wantSuspected(t, m, 2*time.Second)
		m.Observe(ProbeSuccess, 0)
		if m.Preference() != PreferActive {
			t.Errorf("preference %d after a good probe", m.Preference())
		}
	})
}

func TestNeutralOutcomesAreNoSuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newActive(t)
		m.Observe(Neutral, 0)
		wantSuspected(t, m, 0)
		m.Observe(TrafficFailure, 0)
		m.Observe(Neutral, 0)
		wantSuspected(t, m, time.Second)
	})
}

// TestSince checks that the time of a state is that of its last change.
func TestSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newActive(t)
		start := time.Now()
		time.Sleep(time.Minute)
		observe(m, TrafficFailure, 9)
		if s := m.status(); !s.Since.Equal(start) || s.State != Active || s.Endpoint != oneSeed {
			t.Errorf("%+v, want it active since %v", s, start)
		}
		observe(m, TrafficFailure, 1)
		if s := m.status(); !s.Since.Equal(start.Add(time.Minute)) || s.State != Down {
			t.Errorf("%+v, want it down since a minute later", s)
		}
	})
}
