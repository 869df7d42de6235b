package cluster

import (
	"net/http"
	"slices"
	"sync"
)

// Request is one request that a node received.
type Request struct {
	Node      int    // index of the node
	Method    string // such as "POST"
	Path      string // such as "/localnodes"
	Operation string // such as "PutItem"; LocalNodes for /localnodes
	Host      string // the Host header
	RawQuery  string // as received
	Header    http.Header
	Body      []byte
	Status    int // what was answered; 0 as long as nothing was
	// SignatureValid says whether the request was signed with the cluster's
	// credentials, for the host that received it.
	SignatureValid bool
}

// record holds the last requests that a cluster received, in the order in
// which they were received.
type record struct {
	limit int

	mu      sync.Mutex
	on      bool
	entries []*Request // a ring once it is full
	oldest  int        // index of the oldest entry
}

func newRecord(limit int) *record { return &record{limit: limit} }

func (r *record) active() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.on
}

// add returns the entry, whose status is set by answered.
func (r *record) add(q Request) *Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.entries) < r.limit {
		r.entries = append(r.entries, &q)
		return &q
	}
	r.entries[r.oldest] = &q
	r.oldest = (r.oldest + 1) % r.limit
	return &q
}

func (r *record) answered(q *Request, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q.Status = status
}

// Record switches the record of requests on or off. It is off at first.
func (c *Cluster) Record(on bool) {
	c.record.mu.Lock()
	defer c.record.mu.Unlock()
	c.record.on = on
}

// Requests returns the recorded requests, the oldest first. A request is
// recorded when it was received, and its status as it is answered. The
// requests of a node are those with its index.
func (c *Cluster) Requests() []Request {
	r := c.record
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Request, 0, len(r.entries))
	for _, q := range slices.Concat(r.entries[r.oldest:], r.entries[:r.oldest]) {
		out = append(out, *q)
	}
	return out
}

// ResetRequests empties the record.
func (c *Cluster) ResetRequests() {
	c.record.mu.Lock()
	defer c.record.mu.Unlock()
	c.record.entries, c.record.oldest = nil, 0
}
