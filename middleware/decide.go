package middleware

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/resolver"
)

// A router has what decisions depend on besides the nodes and the request.
type router struct {
	mode    Mode
	tables  map[string]Mode // the tables that have a mode of their own
	schemas resolver.PartitionKeys

	hits, misses uint64 // of the schema cache
}

// decide makes the plan of a request from its typed input and says why it is
// so. It is the whole of what routing costs before the request is sent: no I/O,
// no lock unless a partition key is not known, and for a request without
// affinity one random number.
func (r *router) decide(plan *resolver.Plan, ring *resolver.Ring, input any, random func() uint64) Reason {
	if ring.Len() == 0 {
		plan.PreferAny(ring, 0)
		return ReasonNoNodes
	}
	var reason Reason
	if batch, ok := input.(*dynamodb.BatchWriteItemInput); ok && batch != nil {
		reason = r.decideBatch(plan, ring, batch)
	} else if write, ok := resolver.SingleWriteOf(input); ok {
		reason = r.decideSingle(plan, ring, &write)
	} else {
		reason = ReasonOperation
	}
	if reason != ReasonVoted && reason != ReasonKeyed {
		plan.PreferAny(ring, random())
	}
	return reason
}

func (r *router) decideBatch(plan *resolver.Plan, ring *resolver.Ring, in *dynamodb.BatchWriteItemInput) Reason {
	if !r.votes(in) {
		return ReasonMode
	}
	if !plan.PreferVoted(ring, in.RequestItems, r) {
		return ReasonNoVotes
	}
	return ReasonVoted
}

// votes reports whether the writes to any table of a batch have a vote.
func (r *router) votes(in *dynamodb.BatchWriteItemInput) bool {
	if len(r.tables) == 0 || len(in.RequestItems) == 0 {
		return r.mode == AnyWrite
	}
	for table := range in.RequestItems {
		if r.modeOf(table) == AnyWrite {
			return true
		}
	}
	return false
}

func (r *router) decideSingle(plan *resolver.Plan, ring *resolver.Ring, write *resolver.SingleWrite) Reason {
	switch r.modeOf(write.Table) {
	case None:
		return ReasonMode
	case RMW:
		if !write.ReadsFirst {
			return ReasonNotReadModifyWrite
		}
	}
	attribute, ok := r.schema(write.Table)
	if !ok {
		return ReasonUnknownSchema
	}
	value, ok := write.Attributes[attribute]
	if !ok {
		if len(write.Attributes) > 0 {
			r.schemas.KeyMissing(write.Table, attribute)
		}
		return ReasonNoKey
	}
	hash, ok := resolver.Hash(value)
	if !ok {
		return ReasonBadKey
	}
	plan.PreferKey(ring, hash)
	return ReasonKeyed
}

func (r *router) modeOf(table string) Mode {
	if len(r.tables) > 0 {
		if mode, ok := r.tables[resolver.TableName(table)]; ok {
			return mode
		}
	}
	return r.mode
}

// PartitionKey implements [resolver.PartitionKeys] for the tables whose writes
// have a vote in a batch. What is known of others is nobody's business, and
// nothing is looked up for them.
func (r *router) PartitionKey(table string) (string, bool) {
	if r.modeOf(table) != AnyWrite {
		return "", false
	}
	return r.schema(table)
}

// schema returns a table's partition key and counts whether it is known.
func (r *router) schema(table string) (string, bool) {
	attribute, ok := r.schemas.PartitionKey(table)
	if ok {
		r.hits++
	} else {
		r.misses++
	}
	return attribute, ok
}

// KeyMissing implements [resolver.PartitionKeys].
func (r *router) KeyMissing(table, attribute string) { r.schemas.KeyMissing(table, attribute) }
