package resolver

import (
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// PartitionKeys knows the partition keys of tables. Its methods must neither
// block nor fail: what is not known right now has no say.
type PartitionKeys interface {
	// PartitionKey returns the name of the table's partition-key attribute, or
	// false if it is not known. It is asked once per table of a request, and
	// only if the table has a candidate.
	PartitionKey(table string) (attribute string, ok bool)

	// KeyMissing is told, at most once per table of a request, that a write to
	// the table does not have the attribute that PartitionKey named: the table
	// may have been made anew with another key.
	KeyMissing(table, attribute string)
}

// candidate returns the attributes in which a write of a batch has its key. A
// write that is not exactly one of put and delete, or has no attributes, is not
// a candidate; it is for the server to refuse it.
func candidate(w *types.WriteRequest) map[string]types.AttributeValue {
	switch {
	case w.PutRequest != nil && w.DeleteRequest == nil:
		return w.PutRequest.Item
	case w.DeleteRequest != nil && w.PutRequest == nil:
		return w.DeleteRequest.Key
	}
	return nil
}

// PreferVoted makes the plan that the writes of a batch vote for: each
// candidate whose table's partition key is known, and whose key is a string, a
// number or a binary, gives one vote to the node that its key prefers
// ([Plan.PreferKey]). The plan is the voted nodes by number of votes, ties in
// canonical order, then all others in canonical order.
//
// It reports false, and makes a plan of no meaning, if there are no votes.
func (p *Plan) PreferVoted(ring *Ring, writes map[string][]types.WriteRequest, keys PartitionKeys) bool {
	p.reset(ring)
	if ring.Len() == 0 {
		return false
	}
	b := ballots.Get().(*ballot)
	b.open(ring.Len())
	for table, requests := range writes {
		b.count(ring, table, requests, keys)
	}
	p.first = b.close(&p.votes)
	ballots.Put(b)
	if p.votes.len() == 0 {
		p.PreferKey(ring, 0)
		return false
	}
	return true
}

// A ballot counts the votes of one batch. Its cost depends on the writes alone:
// counts is as long as the ring but is never cleared as a whole, only where it
// was voted, so that 1,000 nodes cost as much as three.
type ballot struct {
	hasher hasher
	counts []int32 // votes by ring index; all zero between batches
	voted  []int32 // the ring indexes that have votes, in order of their first
}

var ballots = sync.Pool{New: func() any { return new(ballot) }}

func (b *ballot) open(nodes int) {
	if len(b.counts) < nodes {
		b.counts = make([]int32, nodes)
	}
}

// count lets the writes to one table vote.
func (b *ballot) count(ring *Ring, table string, requests []types.WriteRequest, keys PartitionKeys) {
	var attribute string
	var known, missing bool
	for i := range requests {
		attributes := candidate(&requests[i])
		if len(attributes) == 0 {
			continue
		}
		if !known {
			if attribute, known = keys.PartitionKey(table); !known {
				return
			}
		}
		value, ok := attributes[attribute]
		if !ok {
			missing = true
			continue
		}
		if hash, ok := b.hasher.hash(value); ok {
			b.vote(preferred(ring, hash))
		}
	}
	if missing {
		keys.KeyMissing(table, attribute)
	}
}

func (b *ballot) vote(node int32) {
	if b.counts[node] == 0 {
		b.voted = append(b.voted, node)
	}
	b.counts[node]++
}

// close moves the votes into the tally, leaves the ballot clean, and returns
// the node with the most votes, the first in canonical order of several.
func (b *ballot) close(t *tally) (winner int32) {
	best := tallied{}
	for i, node := range b.voted {
		v := tallied{index: node, count: b.counts[node]}
		b.counts[node] = 0
		t.add(v)
		if i == 0 || compareTallied(v, best) < 0 {
			best = v
		}
	}
	b.voted = b.voted[:0]
	return best.index
}
