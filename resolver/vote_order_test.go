package resolver_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

// keysOf returns, for each node of a ring of n, the first few keys that prefer
// it.
func keysOf(n, each int) [][]types.AttributeValue {
	keys := make([][]types.AttributeValue, n)
	for i, missing := 0, n*each; missing > 0; i++ {
		key := text(fmt.Sprintf("key-%d", i))
		hash, _ := referenceHash(key)
		if node := seededIntn(hash, n); len(keys[node]) < each {
			keys[node] = append(keys[node], key)
			missing--
		}
	}
	return keys
}

// batchFor returns a batch that gives nodes the wanted votes, on a ring of n.
func batchFor(n int, votes map[int]int) map[string][]types.WriteRequest {
	most := 0
	for _, count := range votes {
		most = max(most, count)
	}
	keys := keysOf(n, most)
	var writes []types.WriteRequest
	for node, count := range votes {
		for _, key := range keys[node][:count] {
			writes = append(writes, put(attributes{"id": key}))
		}
	}
	return users(writes...)
}

func TestVoteOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		votes map[int]int
		want  []int
	}{
		{"one node", 1, map[int]int{0: 5}, []int{0}},
		{"one vote", 5, map[int]int{3: 1}, []int{3, 0, 1, 2, 4}},
		{"most votes first", 5, map[int]int{0: 1, 2: 2, 4: 3}, []int{4, 2, 0, 1, 3}},
		{"a tie at the top", 5, map[int]int{4: 2, 1: 2, 0: 1}, []int{1, 4, 0, 2, 3}},
		{"a tie behind the first", 6, map[int]int{5: 3, 4: 1, 2: 1}, []int{5, 2, 4, 0, 1, 3}},
		{"all tied", 4, map[int]int{3: 1, 1: 1, 0: 1, 2: 1}, []int{0, 1, 2, 3}},
		{"the others in canonical order", 8, map[int]int{6: 1, 2: 1}, []int{2, 6, 0, 1, 3, 4, 5, 7}},
		{"all on the last node", 5, map[int]int{4: 5}, []int{4, 0, 1, 2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var plan resolver.Plan
			ring := ringOf(c.nodes)
			if !plan.PreferVoted(ring, batchFor(c.nodes, c.votes), newSchema(usersByID)) {
				t.Fatal("no votes")
			}
			var votes []resolver.Vote
			for _, node := range c.want[:len(c.votes)] {
				votes = append(votes, resolver.Vote{Node: ring.Node(node), Count: c.votes[node]})
			}
			if got := plan.Votes(); !slices.Equal(got, votes) {
				t.Errorf("votes %v, want %v", got, votes)
			}
			if got := orderOf(&plan); !slices.Equal(got, c.want) {
				t.Errorf("order %v, want %v", got, c.want)
			}
			if got := plan.Votes(); !slices.Equal(got, votes) {
				t.Errorf("votes %v after the order was read, want %v", got, votes)
			}
		})
	}
}

// TestVoteForManyNodes has more voted nodes than a plan has room for in itself.
func TestVoteForManyNodes(t *testing.T) {
	var plan resolver.Plan
	for _, voted := range []int{31, 32, 33, 34, 64, 65, 100} {
		votes := map[int]int{0: 3, 99: 2}
		for node := 1; len(votes) < voted; node++ {
			votes[99-node] = 1
		}
		want := []int{0, 99}
		for node := range 100 {
			if votes[node] == 1 {
				want = append(want, node)
			}
		}
		for node := range 100 {
			if votes[node] == 0 {
				want = append(want, node)
			}
		}
		// The second time the plan has the room from the first.
		for range 2 {
			plan.PreferVoted(ringOf(100), batchFor(100, votes), newSchema(usersByID))
			if got := plan.At(0); got != 0 {
				t.Errorf("%d voted nodes: the first is %d, want 0", voted, got)
			}
			if got := len(plan.Votes()); got != voted {
				t.Errorf("%d voted nodes, want %d", got, voted)
			}
			if got := orderOf(&plan); !slices.Equal(got, want) {
				t.Errorf("%d voted nodes: order %v, want %v", voted, got, want)
			}
		}
	}
}

func TestVoteOfAHundredWritesCountsAHundred(t *testing.T) {
	for _, nodes := range []int{1, 3, 10, 100, 1000} {
		var plan resolver.Plan
		if !plan.PreferVoted(ringOf(nodes), batchOf(100), fixedKey("pk")) {
			t.Fatalf("%d nodes: no votes", nodes)
		}
		total := 0
		for _, v := range plan.Votes() {
			total += v.Count
		}
		if total != 100 {
			t.Errorf("%d nodes: %d votes, want 100", nodes, total)
		}
	}
}

func TestVoteDoesNotDependOnMapAndWriteOrder(t *testing.T) {
	random := rand.New(rand.NewSource(6))
	keys := make([]types.AttributeValue, 60)
	for i := range keys {
		keys[i] = number(fmt.Sprint(i))
	}
	batch := randomBatch(random, 100, keys)
	for len(batch) < 4 { // of several tables
		batch = randomBatch(random, 100, keys)
	}
	for _, nodes := range []int{3, 10, 200} {
		ring := ringOf(nodes)
		want := voteByDefinition(nodes, batch, knownKeys, seededIntn)
		var plan resolver.Plan
		for round := range 1000 {
			asked := newSchema(knownKeys)
			plan.PreferVoted(ring, shuffled(random, batch), asked)
			if problem := differs(&plan, ring, asked, want); problem != "" {
				t.Fatalf("%d nodes, round %d: %s", nodes, round, problem)
			}
		}
	}
}
