package resolver_test

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spaolacci/murmur3"

	"github.com/keyroute/keyroute/resolver"
)

// eachBatchSize runs a benchmark for batches of several sizes on rings of
// several sizes. Time is also reported by write.
func eachBatchSize(b *testing.B, decide func(b *testing.B, ring *resolver.Ring, batch map[string][]types.WriteRequest)) {
	for _, nodes := range []int{3, 10, 100, 1000} {
		for _, items := range []int{1, 25, 100} {
			b.Run(fmt.Sprintf("nodes=%d/items=%d", nodes, items), func(b *testing.B) {
				b.ReportAllocs()
				decide(b, ringOf(nodes), batchOf(items))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(items), "ns/write")
			})
		}
	}
}

// BenchmarkBatchDecision finds the coordinator of a batch.
func BenchmarkBatchDecision(b *testing.B) {
	eachBatchSize(b, func(b *testing.B, ring *resolver.Ring, batch map[string][]types.WriteRequest) {
		var keys resolver.PartitionKeys = fixedKey("pk")
		var plan resolver.Plan
		for b.Loop() {
			plan.PreferVoted(ring, batch, keys)
			plan.At(0)
		}
	})
}

// BenchmarkBatchDecisionReference finds it by the definition, with math/rand
// seeded for each write. The ring is sorted beforehand here too.
func BenchmarkBatchDecisionReference(b *testing.B) {
	eachBatchSize(b, func(b *testing.B, ring *resolver.Ring, batch map[string][]types.WriteRequest) {
		for b.Loop() {
			counts := map[int]int{}
			for _, requests := range batch {
				for _, w := range requests {
					hash, _ := referenceHash(w.PutRequest.Item["pk"])
					counts[seededIntn(hash, ring.Len())]++
				}
			}
			votes := make([]nodeVotes, 0, len(counts))
			for node, count := range counts {
				votes = append(votes, nodeVotes{node, count})
			}
			slices.SortFunc(votes, func(a, b nodeVotes) int {
				return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.node, b.node))
			})
		}
	})
}

// eachKey runs a benchmark for keys of each type in several lengths.
func eachKey(b *testing.B, decide func(b *testing.B, prefix byte, keys []types.AttributeValue)) {
	const different = 256 // so that no branch is always taken
	for prefix, kind := range []func(string) types.AttributeValue{text, number, binary} {
		for _, length := range []int{8, 36, 1024} {
			b.Run(fmt.Sprintf("type=%c/bytes=%d", "SNB"[prefix], length), func(b *testing.B) {
				keys := make([]types.AttributeValue, different)
				for i := range keys {
					keys[i] = kind(fmt.Sprintf("%0*d", length, i))
				}
				b.ReportAllocs()
				decide(b, byte(1+prefix), keys)
			})
		}
	}
}

// BenchmarkSingleDecision finds the coordinator of a single write.
func BenchmarkSingleDecision(b *testing.B) {
	eachKey(b, func(b *testing.B, _ byte, keys []types.AttributeValue) {
		ring := ringOf(10)
		var plan resolver.Plan
		for i := 0; b.Loop(); i++ {
			hash, _ := resolver.Hash(keys[i%len(keys)])
			plan.PreferKey(ring, hash)
			plan.At(0)
		}
	})
}

// BenchmarkHashOnly is the part of BenchmarkSingleDecision that nobody can
// spare: the hash function, given its input in one piece.
func BenchmarkHashOnly(b *testing.B) {
	eachKey(b, func(b *testing.B, prefix byte, keys []types.AttributeValue) {
		inputs := make([][]byte, len(keys))
		for i, key := range keys {
			inputs[i] = append([]byte{prefix}, content(key)...)
		}
		for i := 0; b.Loop(); i++ {
			murmur3.Sum128(inputs[i%len(inputs)])
		}
	})
}

// content is the bytes of a value that can be a key.
func content(value types.AttributeValue) []byte {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return []byte(v.Value)
	case *types.AttributeValueMemberN:
		return []byte(v.Value)
	case *types.AttributeValueMemberB:
		return v.Value
	}
	panic("not a key")
}

func shuffledEndpoints(n int) []string {
	endpoints := make([]string, n)
	for to, from := range rand.New(rand.NewSource(9)).Perm(n) {
		endpoints[to] = manyNodes()[from].String()
	}
	return endpoints
}

// BenchmarkRing makes a ring of endpoints, as when a client starts.
func BenchmarkRing(b *testing.B) {
	const addresses = 1000
	b.Run(fmt.Sprintf("addresses=%d", addresses), func(b *testing.B) {
		endpoints := shuffledEndpoints(addresses)
		b.ReportAllocs()
		for b.Loop() {
			nodes := make([]*resolver.Node, len(endpoints))
			for i, endpoint := range endpoints {
				nodes[i], _ = resolver.ParseNode(endpoint)
			}
			resolver.NewRing(nodes...)
		}
	})
}

// BenchmarkNewRing makes a ring of nodes.
func BenchmarkNewRing(b *testing.B) {
	const addresses = 1000
	b.Run(fmt.Sprintf("addresses=%d", addresses), func(b *testing.B) {
		nodes := parse(b, shuffledEndpoints(addresses)...)
		b.ReportAllocs()
		for b.Loop() {
			resolver.NewRing(nodes...)
		}
	})
}
