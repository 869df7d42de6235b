package middleware

import (
	"sync/atomic"

	"github.com/keyroute/keyroute/discovery"
)

// Stats are counts since the plugin was made, and what was last seen to fail.
// It is a snapshot; the counts in it need not be of one moment.
type Stats struct {
	// Requests are the calls that were routed, by reason.
	Requests map[Reason]uint64
	// Failovers is how many times a call went on to another coordinator.
	Failovers uint64
	// SchemaHits and SchemaMisses is how often the partition key of a table was
	// wanted and known, or not.
	SchemaHits, SchemaMisses uint64
	// Schemas are the counts of the schema cache, LastSchemaError the error of
	// the last lookup that failed.
	Schemas         discovery.SchemaCounters
	LastSchemaError error
	// Refreshes are the counts of refreshing the live nodes, LastRefreshError
	// the error of the last refresh, nil if it went well.
	Refreshes        discovery.RefreshCounters
	LastRefreshError error
}

// Stats returns the plugin's counts.
func (p *Plugin) Stats() Stats {
	s := Stats{
		Requests:     map[Reason]uint64{},
		Failovers:    p.counts.failovers.Load(),
		SchemaHits:   p.counts.hits.Load(),
		SchemaMisses: p.counts.misses.Load(),
	}
	for reason := range p.counts.requests {
		if n := p.counts.requests[reason].Load(); n > 0 {
			s.Requests[Reason(reason)] = n
		}
	}
	s.Schemas, s.LastSchemaError = p.schemas.Counters()
	if nodes := p.nodes.Load(); nodes != nil {
		s.Refreshes, s.LastRefreshError = nodes.Counters()
	}
	return s
}

// counts are what requests count, each once per call.
type counts struct {
	requests  [len(reasonNames)]atomic.Uint64
	failovers atomic.Uint64
	hits      atomic.Uint64
	misses    atomic.Uint64
}

// add counts a request that is over.
func (c *counts) add(r *request) {
	if !r.planned {
		return // it failed before it was sent
	}
	c.requests[r.reason].Add(1)
	if moves := r.walk.moves(); moves > 0 {
		c.failovers.Add(uint64(moves))
	}
	if r.router.hits > 0 {
		c.hits.Add(r.router.hits)
	}
	if r.router.misses > 0 {
		c.misses.Add(r.router.misses)
	}
}
