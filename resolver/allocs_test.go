package resolver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

// wantNoAllocations runs a call many times. Its allocations count only without
// the race detector.
func wantNoAllocations(t *testing.T, what string, call func()) {
	t.Helper()
	if n := testing.AllocsPerRun(100, call); n != 0 && !raceDetector {
		t.Errorf("%s: %v allocations, want none", what, n)
	}
}

func TestHashDoesNotAllocate(t *testing.T) {
	for length := 0; length <= 2048; length++ {
		content := strings.Repeat("k", length)
		for _, value := range []types.AttributeValue{text(content), number(content), binary(content)} {
			wantNoAllocations(t, fmt.Sprintf("%T of %d bytes", value, length), func() { resolver.Hash(value) })
		}
	}
}

func TestSingleDecisionDoesNotAllocate(t *testing.T) {
	for _, nodes := range []int{1, 3, 10, 100, 1000} {
		ring := ringOf(nodes)
		key := text("user-000123")
		wantNoAllocations(t, fmt.Sprintf("%d nodes", nodes), func() {
			hash, _ := resolver.Hash(key)
			var plan resolver.Plan
			plan.PreferKey(ring, hash)
			plan.At(0)
			plan.PreferAny(ring, uint64(hash))
			plan.At(0)
		})
	}
}

func TestBatchDecisionDoesNotAllocate(t *testing.T) {
	var keys resolver.PartitionKeys = fixedKey("pk")
	var plan resolver.Plan
	for _, nodes := range []int{3, 10, 32, 33, 100, 1000} {
		ring := ringOf(nodes)
		for _, writes := range []int{1, 25, 100} {
			batch := batchOf(writes)
			wantNoAllocations(t, fmt.Sprintf("%d writes on %d nodes", writes, nodes), func() {
				plan.PreferVoted(ring, batch, keys)
				plan.At(0)
			})
		}
	}
}

// TestBatchDecisionOfANewPlanDoesNotAllocate: a batch as large as DynamoDB
// allows has room for its votes in the plan itself.
func TestBatchDecisionOfANewPlanDoesNotAllocate(t *testing.T) {
	var keys resolver.PartitionKeys = fixedKey("pk")
	batch := batchOf(25)
	for _, nodes := range []int{3, 10, 100, 1000} {
		ring := ringOf(nodes)
		wantNoAllocations(t, fmt.Sprintf("%d nodes", nodes), func() {
			var plan resolver.Plan
			plan.PreferVoted(ring, batch, keys)
			plan.At(0)
		})
	}
}
