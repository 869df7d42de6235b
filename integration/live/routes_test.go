package live

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// preferred returns the node that a key prefers, by the definition that all
// Alternator clients share: the first draw of Go's generator, seeded with the
// hash of the key, among the nodes in canonical order.
func (r *routed) preferred(key types.AttributeValue) string {
	r.t.Helper()
	hash, ok := resolver.Hash(key)
	if !ok {
		r.t.Fatalf("no hash of %v", key)
	}
	return r.nodes[rand.New(rand.NewSource(hash)).Intn(len(r.nodes))]
}

// keys returns n keys that prefer a node, and that no other call returns.
func (r *routed) keys(node string, n int) []types.AttributeValue {
	r.t.Helper()
	var keys []types.AttributeValue
	for i := 0; len(keys) < n && i < 1_000_000; i++ {
		if key := str(fmt.Sprint("key-", i)); r.preferred(key) == node {
			keys = append(keys, key)
		}
	}
	if len(keys) < n {
		r.t.Fatalf("too few keys prefer %s", node)
	}
	return keys
}

// vote is how many writes of a batch prefer a node.
type vote struct {
	node  string
	count int
}

// votes returns the votes that a batch must have, in the order of its plan.
func (r *routed) votes(writes ...types.WriteRequest) []vote {
	r.t.Helper()
	counts := map[string]int{}
	for _, w := range writes {
		if w.PutRequest != nil {
			counts[r.preferred(w.PutRequest.Item["pk"])]++
		} else {
			counts[r.preferred(w.DeleteRequest.Key["pk"])]++
		}
	}
	var votes []vote
	for node, count := range counts {
		votes = append(votes, vote{node, count})
	}
	slices.SortFunc(votes, func(a, b vote) int {
		return cmp.Or(b.count-a.count, cmp.Compare(a.node, b.node))
	})
	return votes
}

func votesOf(d middleware.Decision) []vote {
	var votes []vote
	for _, v := range d.Votes {
		votes = append(votes, vote{v.Node.String(), v.Count})
	}
	return votes
}

// batch makes a batch of writes to one table, which must succeed.
func (r *routed) batch(table string, writes ...types.WriteRequest) middleware.Decision {
	r.t.Helper()
	return r.batches(map[string][]types.WriteRequest{table: writes})
}

func (r *routed) batches(writes map[string][]types.WriteRequest) middleware.Decision {
	r.t.Helper()
	out, err := r.BatchWriteItem(r.ctx, &dynamodb.BatchWriteItemInput{RequestItems: writes})
	r.must(err)
	if len(out.UnprocessedItems) > 0 {
		r.t.Errorf("of a batch was left: %v", out.UnprocessedItems)
	}
	return r.decision(out.ResultMetadata)
}

// decision returns how a call was routed: to the first node of its plan.
func (r *routed) decision(metadata smithymiddleware.Metadata) middleware.Decision {
	r.t.Helper()
	d, ok := middleware.DecisionOf(metadata)
	if !ok {
		r.t.Fatal("the call did not pass through the plugin")
	}
	if d.Coordinator != d.Preferred || !slices.Equal(d.Tried, []string{d.Coordinator}) {
		r.t.Errorf("the nodes %v were tried, want %s alone", d.Tried, d.Preferred)
	}
	if !slices.Contains(r.nodes, d.Coordinator) {
		r.t.Errorf("the coordinator %s is none of %v", d.Coordinator, r.nodes)
	}
	return d
}

// wantVoted checks a batch that was routed by the votes of its writes.
func (r *routed) wantVoted(d middleware.Decision, votes []vote) {
	r.t.Helper()
	if d.Reason != middleware.ReasonVoted || !slices.Equal(votesOf(d), votes) {
		r.t.Errorf("%v with the votes %v, want %v with %v", d.Reason, votesOf(d), middleware.ReasonVoted, votes)
	}
	if d.Coordinator != votes[0].node {
		r.t.Errorf("the coordinator is %s, want %s", d.Coordinator, votes[0].node)
	}
}

// wantCoordinator checks the node that an error is of.
func (r *routed) wantCoordinator(err error, node string) {
	r.t.Helper()
	e, ok := errors.AsType[*middleware.CoordinatorError](err)
	if !ok {
		r.t.Fatalf("no coordinator in the error %v", err)
	}
	if e.Coordinator != node || e.Attempt != 1 {
		r.t.Errorf("the error is of %s in attempt %d, want %s in attempt 1", e.Coordinator, e.Attempt, node)
	}
}
