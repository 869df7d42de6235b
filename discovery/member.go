package discovery

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/keyroute/keyroute/resolver"
)

const (
	// A node is passed over for this long after a request without an answer,
	// twice as long after each further one, until it answers.
	minSuspicion = time.Second
	maxSuspicion = 30 * time.Second
)

// A Member is one node with its health. It outlives views: a node that leaves
// the list and comes back has the history it left with. It is safe for
// concurrent use.
type Member struct {
	node       *resolver.Node
	thresholds *Thresholds // nil: health is off, the node is always active

	// What requests read, without locking.
	published    atomic.Uint64 // generation, cleanBit, state
	suspectUntil atomic.Int64  // by the clock of elapsed; 0: not suspected

	mu        sync.Mutex
	record    record
	since     time.Time     // of the state
	suspicion time.Duration // how long it was last suspected for; 0: it answered
	probeAt   int64         // when to ask a suspected node whether it is back; 0: it was asked
	probed    bool          // was asked at least once
}

func newMember(node *resolver.Node, thresholds *Thresholds) *Member {
	m := &Member{node: node, thresholds: thresholds, since: time.Now()}
	if thresholds == nil {
		m.record.state = Active
	}
	m.publishLocked()
	return m
}

// How the published word is made up.
const (
	stateMask       = 1<<2 - 1
	cleanBit        = 1 << 2 // active, with nothing that a success would change
	generationShift = 3
)

func (m *Member) publishLocked() {
	word := m.record.generation<<generationShift | uint64(m.record.state)
	if m.record.state == Active && m.record.failures == 0 && m.suspicion == 0 {
		word |= cleanBit
	}
	m.published.Store(word)
}

// epoch is where the clock of suspicion starts. Durations since it are
// monotonic: a wall clock that jumps neither prolongs nor ends a suspicion.
var epoch = time.Now()

// elapsed is the time since epoch; never 0.
func elapsed() int64 { return int64(time.Since(epoch)) + 1 }

// Node returns the node.
func (m *Member) Node() *resolver.Node { return m.node }

// Generation returns how often the node went down. An outcome is reported with
// the generation that was read before its request was sent.
func (m *Member) Generation() uint64 { return m.published.Load() >> generationShift }

// State returns the node's state.
func (m *Member) State() State { return State(m.published.Load() & stateMask) }

// Preference is how readily a node is tried; the lowest comes first.
type Preference uint8

// The order in which a request tries the nodes of its plan: each class in the
// plan's order before the next.
const (
	PreferActive Preference = iota
	PreferQuarantined
	PreferSuspected // gave no answer a moment ago
	PreferDown
)

// Preference returns how readily the node is to be tried now.
func (m *Member) Preference() Preference {
	state := m.State()
	if state == Down {
		return PreferDown
	}
	if until := m.suspectUntil.Load(); until != 0 && elapsed() < until {
		return PreferSuspected
	}
	if state == Active {
		return PreferActive
	}
	return PreferQuarantined
}

// Observe takes the outcome of a request into account, or of a probe. The
// generation is the one before the request was sent: what was sent before the
// node went down tells nothing about it now.
func (m *Member) Observe(o Outcome, generation uint64) {
	if m.thresholds == nil || o == Neutral {
		return
	}
	if o == TrafficSuccess && m.settled(generation) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if generation != m.record.generation {
		return
	}
	before := m.record.state
	m.record.observe(o, m.thresholds)
	if m.record.state != before {
		m.since = time.Now()
	}
	m.suspectLocked(o)
	m.publishLocked()
}

// settled reports whether a success would change nothing, so that the normal
// course of things takes no lock.
func (m *Member) settled(generation uint64) bool {
	return m.published.Load() == generation<<generationShift|cleanBit|uint64(Active)
}

// suspectLocked begins, prolongs or ends the suspicion of a node. Requests that
// fail together count once. A good probe does not end a suspicion, since a node
// can answer probes and nothing else; it only fails to prolong it. A bad probe
// also begins one, unless the node is known to answer requests.
func (m *Member) suspectLocked(o Outcome) {
	now := elapsed()
	switch o {
	case TrafficSuccess:
		m.suspicion, m.probeAt = 0, 0
		m.suspectUntil.Store(0)
		return
	case ProbeSuccess:
		m.probed, m.probeAt = true, 0
		return
	case ProbeFailure:
		m.probed = true
		if m.record.state == Active && m.suspicion == 0 {
			return
		}
	case TrafficFailure:
		if now < m.suspectUntil.Load() {
			return
		}
	}
	m.suspicion = min(max(2*m.suspicion, minSuspicion), maxSuspicion)
	m.suspectUntil.Store(now + int64(m.suspicion))
	m.probeAt = now + int64(m.suspicion)/2
}

// probeFirst reports whether the node was never asked whether it answers.
func (m *Member) probeFirst() bool {
	if m.thresholds == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.record.state == Quarantined && !m.probed
}

// probeDue reports whether the node should be asked whether it answers: one
// that is not active once per period, one that is suspected half way through
// its suspicion, so that what is still dead is found so by a probe and not by
// the next request.
func (m *Member) probeDue(period bool) bool {
	if m.State() != Active {
		return period
	}
	until, ok := m.untilProbe()
	return ok && until <= 0
}

// untilProbe returns how long it is to the probe of an active node that is
// suspected, and whether there is one.
func (m *Member) untilProbe() (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := elapsed()
	if m.record.state != Active || m.probeAt == 0 || now >= m.suspectUntil.Load() {
		return 0, false
	}
	return time.Duration(m.probeAt - now), true
}

// Status is a snapshot of a node, for people.
type Status struct {
	// Endpoint is the canonical endpoint, "scheme://host[:port]".
	Endpoint string
	// State is the node's health, Since when it has been so.
	State State
	Since time.Time
	// SuspectedFor is how much longer the node is passed over because it gave
	// no answer; 0 if it is not.
	SuspectedFor time.Duration
}

func (m *Member) status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Status{Endpoint: m.node.String(), State: m.record.state, Since: m.since}
	if until := m.suspectUntil.Load(); until != 0 {
		s.SuspectedFor = time.Duration(max(0, until-elapsed()))
	}
	return s
}
