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
	epoch      time.Time   // where the clock of elapsed starts

	// What requests read, without locking.
	published    atomic.Uint64 // generation, cleanBit, state
	suspectUntil atomic.Int64  // by the clock of elapsed; 0: not suspected

	mu        sync.Mutex
	record    record
	since     time.Time     // of the state
	suspicion time.Duration // how long it was last suspected for; 0: it answered
	probeAt   int64         // when to ask a suspected node whether it is back; 0: it was asked
	heldUntil int64         // what suspectUntil is to be again after the probe that runs; 0: what it is
	probed    bool          // was asked at least once
	probing   chan struct{} // closed at the end of the probe that runs; nil if none does
}

func newMember(node *resolver.Node, thresholds *Thresholds) *Member {
	now := time.Now()
	m := &Member{node: node, thresholds: thresholds, epoch: now, since: now}
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

// elapsed is the clock of suspicion, in nanoseconds from 1. It is monotonic: a
// wall clock that jumps neither prolongs nor ends a suspicion.
func (m *Member) elapsed() int64 { return int64(time.Since(m.epoch)) + 1 }

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
	if until := m.suspectUntil.Load(); until != 0 && m.elapsed() < until {
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
	changed := m.record.state != before
	if changed {
		m.since = time.Now()
	}
	m.suspectLocked(o, changed)
	m.publishLocked()
}

// settled reports whether a success would change nothing, so that the normal
// course of things takes no lock.
func (m *Member) settled(generation uint64) bool {
	return m.published.Load() == generation<<generationShift|cleanBit|uint64(Active)
}

// suspectLocked begins, prolongs or ends the suspicion of a node. Requests that
// fail together count once, as do probes in the first half of a suspicion. A
// good probe does not end the suspicion of an active node, since a node can
// answer probes and nothing else; it only fails to prolong it. One that brings
// the node back from a worse state does: the node was kept from requests for
// long enough. A bad probe also begins a suspicion, unless the node is known to
// answer requests.
func (m *Member) suspectLocked(o Outcome, changed bool) {
	now := m.elapsed()
	switch o {
	case TrafficSuccess:
		m.trustLocked()
		return
	case ProbeSuccess:
		m.probed, m.probeAt = true, 0
		if changed {
			m.trustLocked()
		}
		return
	case ProbeFailure:
		m.probed = true
		if m.record.state == Active && m.suspicion == 0 || now < m.probeAt {
			return
		}
	case TrafficFailure:
		if now < m.suspectUntil.Load() {
			return
		}
	}
	m.heldUntil = 0
	m.suspicion = min(max(2*m.suspicion, minSuspicion), maxSuspicion)
	m.suspectUntil.Store(now + int64(m.suspicion))
	m.probeAt = now + int64(m.suspicion)/2
}

func (m *Member) trustLocked() {
	m.suspicion, m.probeAt, m.heldUntil = 0, 0, 0
	m.suspectUntil.Store(0)
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
		s.SuspectedFor = time.Duration(max(0, until-m.elapsed()))
	}
	return s
}
