package main

import (
	"maps"
	"slices"

	"github.com/keyroute/keyroute/resolver"
)

// An outcome is what came of a scenario.
type outcome struct {
	scenario

	calls        int
	failed       int
	firstFailure error
	voted        int            // calls whose coordinator was voted for
	failovers    int            // calls that tried more than one node
	passedOver   int            // calls that did not even try the node that they preferred
	answered     map[string]int // calls by coordinator

	written int
	met     int // writes that were coordinated by the node that their key prefers

	requests    []nodeCount
	outage      string // what happened, in words
	items       int    // read back
	differences differences
}

// nodeCount is how many requests a node received.
type nodeCount struct {
	endpoint string
	count    int
}

func newOutcome(s scenario) *outcome {
	return &outcome{scenario: s, answered: map[string]int{}}
}

func (o *outcome) fail(err error) {
	o.failed++
	if o.firstFailure == nil {
		o.firstFailure = err
	}
}

// countRequests counts the batches per node: as the embedded nodes received
// them, or as the client knows of a real cluster.
func (o *outcome) countRequests(s *site, ring *resolver.Ring) {
	if s.cluster != nil {
		for _, n := range s.cluster.Nodes() {
			o.requests = append(o.requests, nodeCount{n.URL(), n.Count("BatchWriteItem")})
		}
		return
	}
	answered := maps.Clone(o.answered)
	for _, n := range ring.Nodes() {
		o.requests = append(o.requests, nodeCount{n.String(), answered[n.String()]})
		delete(answered, n.String())
	}
	// An endpoint need not be one of the nodes: it may be a name for them all.
	for _, endpoint := range slices.Sorted(maps.Keys(answered)) {
		o.requests = append(o.requests, nodeCount{endpoint, answered[endpoint]})
	}
}

// share is how much of the writes met the node that their key prefers.
func (o *outcome) share() float64 {
	if o.written == 0 {
		return 0
	}
	return float64(o.met) / float64(o.written)
}
