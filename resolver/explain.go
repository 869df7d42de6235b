package resolver

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// An Explanation is how the vote of a batch came about, for people. It costs
// far more than the vote.
type Explanation struct {
	// Writes are all writes of the batch, by table name and then in their order.
	Writes []ExplainedWrite
	// Votes are the voted nodes in the order of the plan.
	Votes []Vote
	// Order is the whole plan. It is empty if there are no votes: the batch is
	// then spread over the nodes like any other request.
	Order []*Node
}

// An ExplainedWrite is one write of a batch and what its vote is.
type ExplainedWrite struct {
	// Table is the table as the request names it, Position that of the write
	// among those to the table, counted from 0.
	Table    string
	Position int
	// Attribute is the name of the partition key, "" if it is not known, and
	// Key its value, nil if the write has none.
	Attribute string
	Key       types.AttributeValue
	// Hash is the key's hash and Preferred the node that the write votes for,
	// if Skipped is "".
	Hash      int64
	Preferred *Node
	// Skipped says why the write has no vote.
	Skipped string
}

// Explain tells how [Plan.PreferVoted] comes to the plan of a batch. What is
// asked of keys is the same.
func Explain(ring *Ring, writes map[string][]types.WriteRequest, keys PartitionKeys) Explanation {
	var e Explanation
	known := once{keys: keys, answers: map[string]string{}}
	for _, table := range slices.Sorted(maps.Keys(writes)) {
		for i := range writes[table] {
			e.Writes = append(e.Writes, explainWrite(ring, table, i, &writes[table][i], &known))
		}
	}
	var plan Plan
	if !plan.PreferVoted(ring, writes, &known) {
		return e
	}
	e.Votes = plan.Votes()
	for i := range plan.Len() {
		e.Order = append(e.Order, ring.Node(plan.At(i)))
	}
	return e
}

func explainWrite(ring *Ring, table string, position int, w *types.WriteRequest, keys PartitionKeys) ExplainedWrite {
	e := ExplainedWrite{Table: table, Position: position}
	attributes := candidate(w)
	if len(attributes) == 0 {
		e.Skipped = whyNoCandidate(w)
		return e
	}
	var ok bool
	if e.Attribute, ok = keys.PartitionKey(table); !ok {
		e.Skipped = "the partition key of the table is not known"
		return e
	}
	if e.Key, ok = attributes[e.Attribute]; !ok {
		e.Skipped = "the write lacks the partition key"
		return e
	}
	if e.Hash, ok = Hash(e.Key); !ok {
		e.Skipped = "the partition key is not a string, a number or a binary"
		return e
	}
	if ring.Len() == 0 {
		e.Skipped = "there is no node to vote for"
		return e
	}
	e.Preferred = ring.Node(int(preferred(ring, e.Hash)))
	return e
}

func whyNoCandidate(w *types.WriteRequest) string {
	switch {
	case w.PutRequest != nil && w.DeleteRequest != nil:
		return "both PutRequest and DeleteRequest are set"
	case w.PutRequest == nil && w.DeleteRequest == nil:
		return "neither PutRequest nor DeleteRequest is set"
	case w.PutRequest != nil:
		return "the item is empty"
	}
	return "the key is empty"
}

// once asks about each table once.
type once struct {
	keys    PartitionKeys
	answers map[string]string // "" for a table that is not known
}

func (o *once) PartitionKey(table string) (string, bool) {
	attribute, asked := o.answers[table]
	if !asked {
		attribute, _ = o.keys.PartitionKey(table)
		o.answers[table] = attribute
	}
	return attribute, attribute != ""
}

func (o *once) KeyMissing(table, attribute string) { o.keys.KeyMissing(table, attribute) }
