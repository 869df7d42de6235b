package discovery

import (
	"strings"
	"sync"
	"testing"

	"github.com/keyroute/keyroute/internal/vectors"
)

// What the vectors call the states and outcomes.
var (
	stateOf   = map[string]State{"ACTIVE": Active, "QUARANTINED": Quarantined, "DOWN": Down}
	outcomeOf = map[string]Outcome{
		"NEUTRAL":         Neutral,
		"TRAFFIC_SUCCESS": TrafficSuccess,
		"TRAFFIC_FAILURE": TrafficFailure,
		"PROBE_SUCCESS":   ProbeSuccess,
		"PROBE_FAILURE":   ProbeFailure,
	}
)

// TestHealthVectors holds a member against the vectors, not the state machine
// alone, so that nothing around it can make a difference.
func TestHealthVectors(t *testing.T) {
	node := parseNodes(t, oneSeed)[0]
	for _, v := range vectors.Healths(t) {
		t.Run(v.Name, func(t *testing.T) {
			thresholds := Thresholds(v.Thresholds)
			m := newMember(node, &thresholds)
			initial, ok := stateOf[v.Initial]
			if !ok {
				t.Fatalf("unknown state %q", v.Initial)
			}
			m.record.state = initial
			if initial == Active {
				m.record.activate(&thresholds)
			}
			m.publishLocked()
			for i, name := range v.Observations {
				outcome, ok := outcomeOf[name]
				if !ok {
					t.Fatalf("unknown observation %q", name)
				}
				m.Observe(outcome, m.Generation())
				if m.State() != m.record.state || m.Generation() != m.record.generation {
					t.Fatalf("after %d: published %s in generation %d, the record is %+v", i+1, m.State(), m.Generation(), m.record)
				}
			}
			want := record{state: stateOf[v.State], failures: v.Failures, successes: v.Successes, generation: uint64(v.Generation)}
			if m.record != want {
				t.Errorf("%+v, want %+v", m.record, want)
			}
			if got := strings.ToUpper(m.State().String()); got != v.State {
				t.Errorf("state %s, want %s", got, v.State)
			}
		})
	}
}

func TestDefaultThresholds(t *testing.T) {
	want := Thresholds{ActiveFailures: 10, DownRecoveries: 3, QuarantinePromotion: 10, QuarantineFailures: 3}
	if got := (Thresholds{}).withDefaults(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	given := Thresholds{ActiveFailures: 1, DownRecoveries: 2, QuarantinePromotion: 3, QuarantineFailures: 4}
	if got := given.withDefaults(); got != given {
		t.Errorf("%+v, want %+v", got, given)
	}
}

func TestStateStrings(t *testing.T) {
	for state, want := range map[State]string{Quarantined: "quarantined", Active: "active", Down: "down", 7: "State(7)"} {
		if got := state.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// newActive returns a node that answers, with the default thresholds.
func newActive(t *testing.T) *Member {
	t.Helper()
	thresholds := Thresholds{}.withDefaults()
	m := newMember(parseNodes(t, oneSeed)[0], &thresholds)
	m.Observe(ProbeSuccess, 0)
	if m.State() != Active {
		t.Fatalf("the node is %s after a good probe", m.State())
	}
	return m
}

func observe(m *Member, o Outcome, times int) {
	for range times {
		m.Observe(o, m.Generation())
	}
}

func TestPreferenceOrder(t *testing.T) {
	quarantined, active, suspected, down := newActive(t), newActive(t), newActive(t), newActive(t)
	observe(quarantined, TrafficFailure, 10)
	observe(quarantined, ProbeSuccess, 3)
	observe(suspected, TrafficFailure, 1)
	observe(down, TrafficFailure, 10)
	for _, c := range []struct {
		m     *Member
		state State
		want  Preference
	}{
		{active, Active, PreferActive},
		{quarantined, Quarantined, PreferQuarantined},
		{suspected, Active, PreferSuspected},
		{down, Down, PreferDown},
	} {
		if got := c.m.Preference(); got != c.want || c.m.State() != c.state {
			t.Errorf("%s with preference %d, want %s and %d", c.m.State(), got, c.state, c.want)
		}
	}
	if PreferActive >= PreferQuarantined || PreferQuarantined >= PreferSuspected || PreferSuspected >= PreferDown {
		t.Error("the preferences are not in order")
	}
}

// TestWhatIsStaleChangesNothing reports outcomes of requests that were sent
// before the node went down.
func TestWhatIsStaleChangesNothing(t *testing.T) {
	for _, recoveries := range []int{0, 1, 3, 4} { // down, down, quarantined, active
		for _, o := range []Outcome{TrafficSuccess, TrafficFailure, ProbeSuccess, ProbeFailure, Neutral} {
			m := newActive(t)
			old := m.Generation()
			observe(m, TrafficFailure, 10)
			observe(m, ProbeSuccess, recoveries)
			if m.Generation() != old+1 {
				t.Fatalf("generation %d after %d", m.Generation(), old)
			}
			record, suspicion, until := m.record, m.suspicion, m.suspectUntil.Load()
			if suspected := recoveries < 3; (suspicion != 0) != suspected || (until != 0) != suspected {
				t.Fatalf("suspected for %v after %d good probes", suspicion, recoveries)
			}
			for range 20 {
				m.Observe(o, old)
			}
			if m.record != record || m.suspicion != suspicion || m.suspectUntil.Load() != until {
				t.Errorf("outcome %d changed %+v to %+v, the suspicion of %v to %v", o, record, m.record, suspicion, m.suspicion)
			}
		}
	}
}

func TestHealthDisabled(t *testing.T) {
	m := newMember(parseNodes(t, oneSeed)[0], nil)
	for range 20 {
		for o := Neutral; o <= ProbeFailure; o++ {
			m.Observe(o, m.Generation())
			if m.State() != Active || m.Preference() != PreferActive || m.Generation() != 0 {
				t.Fatalf("%+v", m.status())
			}
		}
		m.Observe(TrafficFailure, 0)
	}
}

// TestASuccessOfAHealthyNodeIsFree checks that what every request does takes no
// memory, and that the short cut for it does not hide anything.
func TestASuccessOfAHealthyNodeIsFree(t *testing.T) {
	m := newActive(t)
	if allocs := testing.AllocsPerRun(100, func() {
		if m.Preference() != PreferActive {
			t.Error("not preferred")
		}
		m.Observe(TrafficSuccess, m.Generation())
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	observe(m, TrafficFailure, 9)
	observe(m, TrafficSuccess, 1)
	observe(m, TrafficFailure, 9)
	if m.State() != Active {
		t.Error("the success in between did not count")
	}
	observe(m, TrafficFailure, 1)
	if m.State() != Down {
		t.Errorf("%s after 10 failures in a row", m.State())
	}
}

// TestMembersAreSharedSafely is for the race detector; in the end the node must
// be what the last outcomes make of it.
func TestMembersAreSharedSafely(t *testing.T) {
	m := newActive(t)
	var others sync.WaitGroup
	for g := range 8 {
		others.Go(func() {
			for i := range 2000 {
				generation := m.Generation()
				if p := m.Preference(); p > PreferDown {
					t.Errorf("preference %d", p)
				}
				m.Observe(Outcome((g+i)%5), generation)
				if s := m.status(); s.State > Down || s.SuspectedFor < 0 || s.SuspectedFor > maxSuspicion {
					t.Errorf("%+v", s)
				}
			}
		})
	}
	others.Wait()
	observe(m, ProbeSuccess, 4)
	observe(m, TrafficSuccess, 1)
	if m.Preference() != PreferActive {
		t.Errorf("%+v after all is well", m.status())
	}
}
