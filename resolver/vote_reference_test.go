package resolver_test

import (
	"fmt"
	"maps"
	"math/rand"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

// differs says in what a plan by votes, and what was asked for it, is not as
// defined. It is silent if all is.
func differs(plan *resolver.Plan, ring *resolver.Ring, asked *schema, want referenceVote) string {
	votes := plan.Votes()
	if len(votes) != len(want.votes) {
		return fmt.Sprintf("%d voted nodes, want %d", len(votes), len(want.votes))
	}
	for i, v := range want.votes {
		if got := votes[i]; got.Node != ring.Node(v.node) || got.Count != v.count {
			return fmt.Sprintf("vote %d is %d for %s, want %d for %s", i, got.Count, got.Node, v.count, ring.Node(v.node))
		}
	}
	for i, node := range want.order {
		if got := plan.At(i); got != node {
			return fmt.Sprintf("position %d is node %d, want %d", i, got, node)
		}
	}
	if got := slices.Sorted(maps.Keys(asked.asked)); !slices.Equal(got, want.asked) {
		return fmt.Sprintf("asked for %q, want %q", got, want.asked)
	}
	if got := slices.Sorted(maps.Keys(asked.missing)); !slices.Equal(got, want.missing) {
		return fmt.Sprintf("missing keys in %q, want %q", got, want.missing)
	}
	for table, times := range asked.asked {
		if times != 1 || len(asked.missing[table]) > 1 {
			return fmt.Sprintf("%s: asked %d times, missing key told %d times", table, times, len(asked.missing[table]))
		}
	}
	return ""
}

// everyKind returns n keys of each type that has a hash, of lengths up to 300.
func everyKind(n int) []types.AttributeValue {
	random := rand.New(rand.NewSource(7))
	keys := make([]types.AttributeValue, 0, 3*n)
	for i := range n {
		content := make([]byte, random.Intn(30)+random.Intn(2)*random.Intn(270))
		random.Read(content)
		keys = append(keys, text(fmt.Sprintf("user-%d", i)), number(fmt.Sprint(i)), binary(string(content)))
	}
	return keys
}

// TestVoteIsTheDefinition compares random batches on rings of every size with
// the definition. The firstDraws spare it most of the seeding.
func TestVoteIsTheDefinition(t *testing.T) {
	const batches, largest = 100_000, 400
	keys := everyKind(10_000)
	draws := firstDraws{}
	for _, key := range keys {
		hash, _ := referenceHash(key)
		draws.add(hash)
	}

	workers := runtime.GOMAXPROCS(0)
	var running sync.WaitGroup
	for worker := range workers {
		running.Go(func() {
			random := rand.New(rand.NewSource(int64(worker)))
			var plan resolver.Plan
			for round := range (batches + workers - 1) / workers {
				nodes := 1 + random.Intn(largest)
				writes := random.Intn(12)
				if random.Intn(100) == 0 {
					writes = 100
				}
				batch := randomBatch(random, writes, keys)
				want := voteByDefinition(nodes, batch, knownKeys, draws.intn)
				asked := newSchema(knownKeys)
				if voted := plan.PreferVoted(ringOf(nodes), batch, asked); voted != (len(want.order) > 0) {
					t.Errorf("worker %d, batch %d: voted: %t", worker, round, voted)
					return
				}
				if problem := differs(&plan, ringOf(nodes), asked, want); problem != "" {
					t.Errorf("worker %d, batch %d, %d nodes: %s", worker, round, nodes, problem)
					return
				}
			}
		})
	}
	running.Wait()
}

// TestRingsAreSharedByConcurrentPlans makes plans of the same batches at the
// same time. What they share, the rings and what the package pools, must not
// let one see the votes of another.
func TestRingsAreSharedByConcurrentPlans(t *testing.T) {
	const shared = 50
	random := rand.New(rand.NewSource(8))
	keys := everyKind(200)
	sizes := []int{1, 3, 10, 100, 1000}
	batches := make([]map[string][]types.WriteRequest, shared)
	wants := make([][]referenceVote, shared)
	for i := range batches {
		batches[i] = randomBatch(random, random.Intn(50), keys)
		for _, nodes := range sizes {
			wants[i] = append(wants[i], voteByDefinition(nodes, batches[i], knownKeys, seededIntn))
		}
	}

	var running sync.WaitGroup
	for worker := range 32 {
		running.Go(func() {
			random := rand.New(rand.NewSource(int64(worker)))
			var plan resolver.Plan
			for range 300 {
				i, size := random.Intn(shared), random.Intn(len(sizes))
				ring, asked := ringOf(sizes[size]), newSchema(knownKeys)
				plan.PreferVoted(ring, batches[i], asked)
				if problem := differs(&plan, ring, asked, wants[i][size]); problem != "" {
					t.Errorf("batch %d, %d nodes: %s", i, sizes[size], problem)
					return
				}
			}
		})
	}
	running.Wait()
}
