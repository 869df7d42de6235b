// Package vectors reads the reference results that every Alternator client must
// reproduce: canonical endpoints, hashes, plans, votes and node health. It is
// for tests.
//
// The results are embedded from testdata. If the environment variable
// KEYROUTE_VECTORS names a folder, the files of the same names are read from
// there instead, so that another set can be tried without a change.
//
// A test that asks for vectors fails at once if it does not get them whole: on
// a missing or malformed file, an unknown or missing field, an empty list.
package vectors

import "testing"

// An Endpoint is a list of endpoints as users write them and the ring that they
// make.
type Endpoint struct {
	Name           string   `json:"name"`
	Input          []string `json:"input"`          // in the order given to the client
	Canonical      []string `json:"canonical"`      // the ring, in its order
	Representative []string `json:"representative"` // the spelling kept for each node of the ring
}

// A Plan is the order in which the hash of a partition key tries the nodes.
type Plan struct {
	Seed  int64    `json:"seed,string"`
	Nodes []string `json:"nodes"` // canonical and in ring order
	Order []string `json:"order"`
}

// A Vote is the number of writes of a batch that prefer a node.
type Vote struct {
	Node  string `json:"node"`
	Count int    `json:"count"`
}

// A Thresholds is the numbers of observations that change a node's state.
type Thresholds struct {
	ActiveFailures      int `json:"activeFailures"`
	DownRecoveries      int `json:"downRecoveries"`
	QuarantinePromotion int `json:"quarantinePromotion"`
	QuarantineFailures  int `json:"quarantineFailures"`
}

// A Health is what a node observes and where that leaves it.
type Health struct {
	Name         string     `json:"name"`
	Initial      string     `json:"initial"` // ACTIVE, QUARANTINED or DOWN
	Thresholds   Thresholds `json:"thresholds"`
	Observations []string   `json:"observations"` // TRAFFIC_SUCCESS, TRAFFIC_FAILURE, PROBE_SUCCESS, PROBE_FAILURE or NEUTRAL
	State        string     `json:"state"`        // after the last observation, as Initial
	Failures     int        `json:"failures"`
	Successes    int        `json:"successes"`
	Generation   int        `json:"generation"`
}

// Endpoints returns the vectors of endpoint.json.
func Endpoints(t testing.TB) []Endpoint {
	t.Helper()
	return read[Endpoint](t, "endpoint.json")
}

// Hashes returns the vectors of hash.json.
func Hashes(t testing.TB) []Hash {
	t.Helper()
	return read[Hash](t, "hash.json")
}

// Plans returns the vectors of plan.json.
func Plans(t testing.TB) []Plan {
	t.Helper()
	return read[Plan](t, "plan.json")
}

// Batches returns the vectors of batch.json. The caller may change them.
func Batches(t testing.TB) []Batch {
	t.Helper()
	return read[Batch](t, "batch.json")
}

// Healths returns the vectors of health.json.
func Healths(t testing.TB) []Health {
	t.Helper()
	return read[Health](t, "health.json")
}
