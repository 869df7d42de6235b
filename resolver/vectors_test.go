package resolver_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/keyroute/keyroute/internal/vectors"
	"github.com/keyroute/keyroute/resolver"
)

func TestEndpointVectors(t *testing.T) {
	for _, v := range vectors.Endpoints(t) {
		t.Run(v.Name, func(t *testing.T) {
			ring := resolver.NewRing(parse(t, v.Input...)...)
			if got := canonical(ring); !slices.Equal(got, v.Canonical) {
				t.Errorf("ring %q, want %q", got, v.Canonical)
			}
			spellings := make([]string, ring.Len())
			for i, n := range ring.Nodes() {
				spellings[i] = n.Spelling()
			}
			if !slices.Equal(spellings, v.Representative) {
				t.Errorf("spellings %q, want %q", spellings, v.Representative)
			}
		})
	}
}

func TestHashVectors(t *testing.T) {
	for _, v := range vectors.Hashes(t) {
		t.Run(v.Name, func(t *testing.T) {
			if got, ok := resolver.Hash(v.Value); !ok || got != v.Hash {
				t.Errorf("hash %d, %t, want %d", got, ok, v.Hash)
			}
		})
	}
}

// TestPlanVectors makes each plan twice: in a value of its own, read from first
// to last, and in one that all of them share, read in a shuffled order.
func TestPlanVectors(t *testing.T) {
	var shared resolver.Plan
	shuffle := rand.New(rand.NewSource(1))
	for _, v := range vectors.Plans(t) {
		name := fmt.Sprintf("seed %d, %d nodes", v.Seed, len(v.Nodes))
		ring := resolver.NewRing(parse(t, v.Nodes...)...)
		if got := canonical(ring); !slices.Equal(got, v.Nodes) {
			t.Fatalf("%s: ring %q, want %q", name, got, v.Nodes)
		}

		var plan resolver.Plan
		plan.PreferKey(ring, v.Seed)
		if plan.Len() != len(v.Order) {
			t.Fatalf("%s: a plan of %d", name, plan.Len())
		}
		for i, want := range v.Order {
			if got := ring.Node(plan.At(i)).String(); got != want {
				t.Fatalf("%s: position %d is %s, want %s", name, i, got, want)
			}
		}

		var first resolver.Plan
		first.PreferKey(ring, v.Seed)
		if got := ring.Node(first.At(0)).String(); got != v.Order[0] {
			t.Errorf("%s: first is %s, want %s", name, got, v.Order[0])
		}

		shared.PreferKey(ring, v.Seed)
		for _, i := range shuffle.Perm(len(v.Order)) {
			if got, want := ring.Node(shared.At(i)).String(), v.Order[i]; got != want {
				t.Fatalf("%s, shared and out of order: position %d is %s, want %s", name, i, got, want)
			}
		}
	}
}

func TestBatchVectors(t *testing.T) {
	var shared resolver.Plan
	for _, v := range vectors.Batches(t) {
		t.Run(v.Name, func(t *testing.T) {
			ring := resolver.NewRing(parse(t, v.Nodes...)...)
			keys := newSchema(v.PartitionKeys)
			voted := shared.PreferVoted(ring, v.RequestItems, keys)
			if voted == v.Fallback {
				t.Fatalf("voted: %t, want %t", voted, !v.Fallback)
			}
			if got := keys.unknown(); !slices.Equal(got, v.Discover) {
				t.Errorf("tables to look up: %q, want %q", got, v.Discover)
			}
			var votes []vectors.Vote
			for _, vote := range shared.Votes() {
				votes = append(votes, vectors.Vote{Node: vote.Node.String(), Count: vote.Count})
			}
			if !slices.Equal(votes, v.Votes) {
				t.Errorf("votes %v, want %v", votes, v.Votes)
			}
			if v.Fallback {
				return
			}
			var order []string
			for _, node := range orderOf(&shared) {
				order = append(order, ring.Node(node).String())
			}
			if !slices.Equal(order, v.Order) {
				t.Errorf("order %q, want %q", order, v.Order)
			}
		})
	}
}
