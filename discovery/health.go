package discovery

import (
	"errors"
	"fmt"
)

// State is what is known of a node's health.
type State uint8

const (
	// Quarantined is a node that is not known to answer yet: a seed, a node
	// that just joined, or one that is coming back. It is used when no active
	// node is left.
	Quarantined State = iota
	// Active is a node that answers.
	Active
	// Down is a node that repeatedly gave no answer. It is used when nothing
	// else is left.
	Down
)

// String returns "quarantined", "active" or "down".
func (s State) String() string {
	switch s {
	case Quarantined:
		return "quarantined"
	case Active:
		return "active"
	case Down:
		return "down"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Outcome is what a request or a probe tells about the node it was sent to.
type Outcome uint8

const (
	// Neutral tells nothing: a 500, 502, 503 or 504 answer, or a request that
	// its caller gave up.
	Neutral Outcome = iota
	// TrafficSuccess is any other answer to a request, an error included.
	TrafficSuccess
	// TrafficFailure is a request that got no answer.
	TrafficFailure
	// ProbeSuccess is a direct 200 from the node's /localnodes.
	ProbeSuccess
	// ProbeFailure is anything else that came of asking it.
	ProbeFailure
)

// Thresholds are the counts at which a node changes its state.
type Thresholds struct {
	// ActiveFailures is how many requests in a row without an answer take an
	// active node down. Default 10.
	ActiveFailures int
	// DownRecoveries is how many good probes in a row bring a node that is down
	// to quarantine. Default 3.
	DownRecoveries int
	// QuarantinePromotion is how many answers in a row make a quarantined node
	// active; one good probe does so, too. Default 10.
	QuarantinePromotion int
	// QuarantineFailures is how many requests in a row without an answer take a
	// quarantined node down. Default 3.
	QuarantineFailures int
}

func (t Thresholds) withDefaults() Thresholds {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&t.ActiveFailures, 10},
		{&t.DownRecoveries, 3},
		{&t.QuarantinePromotion, 10},
		{&t.QuarantineFailures, 3},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return t
}

func (t Thresholds) validate() error {
	if min(t.ActiveFailures, t.DownRecoveries, t.QuarantinePromotion, t.QuarantineFailures) < 0 {
		return errors.New("keyroute: a health threshold is negative")
	}
	return nil
}

// record is the state machine of one node's health. All Alternator clients
// have the same one; its vectors are the contract.
type record struct {
	state      State
	failures   int
	successes  int
	generation uint64 // how often the node went down
}

// observe takes an outcome into account. Traffic tells nothing about a node
// that is down: it is an answer that was long under way, or the last resort of
// a client with no other node. Probes tell nothing about an active one.
func (r *record) observe(o Outcome, t *Thresholds) {
	switch {
	case o == Neutral:
	case r.state == Down:
		r.observeDown(o, t)
	case o == ProbeSuccess && r.state == Quarantined:
		r.activate(t)
	case o == TrafficSuccess && r.state == Active:
		r.activate(t)
	case o == TrafficSuccess:
		r.failures = 0
		r.successes++
		if r.successes >= t.QuarantinePromotion {
			r.activate(t)
		}
	case o == TrafficFailure:
		r.successes = 0
		r.failures++
		if r.failures >= r.limit(t) {
			r.state = Down
			r.generation++
		}
	}
}

func (r *record) observeDown(o Outcome, t *Thresholds) {
	switch o {
	case ProbeSuccess:
		r.successes++
		if r.successes >= t.DownRecoveries {
			r.state, r.failures, r.successes = Quarantined, 0, 0
		}
	case ProbeFailure:
		r.successes = 0
	}
}

func (r *record) activate(t *Thresholds) {
	r.state, r.failures, r.successes = Active, 0, t.QuarantinePromotion
}

func (r *record) limit(t *Thresholds) int {
	if r.state == Active {
		return t.ActiveFailures
	}
	return t.QuarantineFailures
}
