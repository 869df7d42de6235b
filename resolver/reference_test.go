package resolver_test

import (
	"cmp"
	"maps"
	"math/rand"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spaolacci/murmur3"
)

// The definitions that all clients share, written as they are said and with no
// thought of cost. Nodes are ring indexes.

// intn is Intn of a generator with the given seed, its first draw.
type intn func(seed int64, n int) int

func seededIntn(seed int64, n int) int {
	return rand.New(rand.NewSource(seed)).Intn(n)
}

func referenceHash(value types.AttributeValue) (int64, bool) {
	var input []byte
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		if v == nil {
			return 0, false
		}
		input = append([]byte{1}, v.Value...)
	case *types.AttributeValueMemberN:
		if v == nil {
			return 0, false
		}
		input = append([]byte{2}, v.Value...)
	case *types.AttributeValueMemberB:
		if v == nil {
			return 0, false
		}
		input = append([]byte{3}, v.Value...)
	default:
		return 0, false
	}
	h, _ := murmur3.Sum128(input)
	return int64(h), true
}

// referencePlan is the order in which a key with the given hash tries the nodes.
func referencePlan(nodes int, hash int64) []int {
	generator := rand.New(rand.NewSource(hash))
	remaining := make([]int, nodes)
	for i := range remaining {
		remaining[i] = i
	}
	var order []int
	for len(remaining) > 0 {
		i := generator.Intn(len(remaining))
		order = append(order, remaining[i])
		remaining[i] = remaining[len(remaining)-1]
		remaining = remaining[:len(remaining)-1]
	}
	return order
}

// nodeVotes is the number of votes for a node.
type nodeVotes struct{ node, count int }

// A referenceVote is what a batch makes of a ring, and what it asks and says
// about tables on the way.
type referenceVote struct {
	votes   []nodeVotes // in plan order
	order   []int       // the whole plan, empty without votes
	asked   []string    // tables with a candidate, sorted
	missing []string    // known tables of which a candidate lacks the key, sorted
}

func voteByDefinition(nodes int, writes map[string][]types.WriteRequest, keys map[string]string, draw intn) referenceVote {
	counts := map[int]int{}
	asked, missing := map[string]bool{}, map[string]bool{}
	for table, requests := range writes {
		for _, w := range requests {
			var attributes map[string]types.AttributeValue
			if w.PutRequest != nil && w.DeleteRequest == nil {
				attributes = w.PutRequest.Item
			}
			if w.PutRequest == nil && w.DeleteRequest != nil {
				attributes = w.DeleteRequest.Key
			}
			if len(attributes) == 0 {
				continue
			}
			asked[table] = true
			key, known := keys[table]
			if !known {
				continue
			}
			value, present := attributes[key]
			if !present {
				missing[table] = true
				continue
			}
			if hash, ok := referenceHash(value); ok {
				counts[draw(hash, nodes)]++
			}
		}
	}

	result := referenceVote{
		asked:   slices.Sorted(maps.Keys(asked)),
		missing: slices.Sorted(maps.Keys(missing)),
	}
	if len(counts) == 0 {
		return result
	}
	for node, count := range counts {
		result.votes = append(result.votes, nodeVotes{node, count})
	}
	slices.SortFunc(result.votes, func(a, b nodeVotes) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.node, b.node))
	})
	for _, v := range result.votes {
		result.order = append(result.order, v.node)
	}
	for node := range nodes {
		if counts[node] == 0 {
			result.order = append(result.order, node)
		}
	}
	return result
}

// A firstDraws remembers the first draws of seeds, so that one seeding of
// math/rand serves many bounds.
type firstDraws map[int64][]uint64

// remembered is how many draws are kept of each seed. For the bounds of these
// tests Intn rejects one draw in a million at most.
const remembered = 10

func (d firstDraws) add(seed int64) {
	source := rand.NewSource(seed).(rand.Source64)
	draws := make([]uint64, remembered)
	for i := range draws {
		draws[i] = source.Uint64()
	}
	d[seed] = draws
}

// intn lets math/rand make its Intn of the remembered draws.
func (d firstDraws) intn(seed int64, n int) int {
	return rand.New(&replay{d[seed]}).Intn(n)
}

// A replay is a source of known values.
type replay struct{ values []uint64 }

func (r *replay) Uint64() uint64 {
	v := r.values[0]
	r.values = r.values[1:]
	return v
}

func (r *replay) Int63() int64 { return int64(r.Uint64() &^ (1 << 63)) }

func (r *replay) Seed(int64) { panic("a replay has no seed") }
