package resolver_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/keyroute/keyroute/resolver"
)

// Who keeps a decision may ask for its votes anywhere, while others do.
func TestVotesOnlyReadThePlan(t *testing.T) {
	ring := ringOf(tenNodes)
	one, two := attributes{"id": text("user-001")}, attributes{"id": text("user-002")}
	node := func(a attributes) *resolver.Node {
		hash, _ := referenceHash(a["id"])
		return ring.Node(seededIntn(hash, tenNodes))
	}
	want := []resolver.Vote{{Node: node(two), Count: 2}, {Node: node(one), Count: 1}}
	for range 20 {
		var plan resolver.Plan
		plan.PreferVoted(ring, users(put(one), put(two), put(two)), newSchema(usersByID))
		got := make([][]resolver.Vote, 4)
		var running sync.WaitGroup
		for i := range got {
			running.Go(func() { got[i] = plan.Votes() })
		}
		running.Wait()
		for _, votes := range got {
			if !slices.Equal(votes, want) {
				t.Fatalf("votes %v, want %v", votes, want)
			}
		}
	}
}
