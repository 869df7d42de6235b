package resolver_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/keyroute/keyroute/resolver"
)

// checkShares reports nodes whose share of all counts is not between low and
// high.
func checkShares(t *testing.T, what string, counts []int, low, high float64) {
	t.Helper()
	total := 0
	for _, count := range counts {
		total += count
	}
	for node, count := range counts {
		if share := float64(count) / float64(total); share < low || share > high {
			t.Errorf("%s: node %d has %.4f of all, want %.2f to %.2f", what, node, share, low, high)
		}
	}
}

// TestKeysSpreadOverAllNodes also takes the first node of each key away, whose
// keys must then spread over all others.
func TestKeysSpreadOverAllNodes(t *testing.T) {
	const nodes, keys = 10, 100_000
	ring := ringOf(nodes)
	first := make([]int, nodes)
	var second [nodes][]int
	for node := range second {
		second[node] = make([]int, nodes)
	}
	var plan resolver.Plan
	for key := range keys {
		hash, _ := resolver.Hash(text(fmt.Sprintf("user-%06d", key)))
		plan.PreferKey(ring, hash)
		first[plan.At(0)]++
		second[plan.At(0)][plan.At(1)]++
	}
	checkShares(t, "preferred node", first, 0.08, 0.12)
	for dead, counts := range second {
		if counts[dead] != 0 {
			t.Errorf("node %d comes twice in %d plans", dead, counts[dead])
		}
		survivors := append(counts[:dead:dead], counts[dead+1:]...)
		checkShares(t, fmt.Sprintf("survivors of node %d", dead), survivors, 0.09, 0.14)
	}
}

func TestPlansWithoutAffinitySpreadOverAllNodes(t *testing.T) {
	const nodes, requests = 10, 100_000
	ring := ringOf(nodes)
	random := rand.New(rand.NewSource(5))
	first, second := make([]int, nodes), make([]int, nodes)
	var plan resolver.Plan
	for range requests {
		plan.PreferAny(ring, random.Uint64())
		first[plan.At(0)]++
		second[plan.At(1)]++
	}
	checkShares(t, "first node", first, 0.09, 0.11)
	checkShares(t, "second node", second, 0.09, 0.11)
}

// TestAffinityIsOfTheKeyAlone: what a key prefers does not depend on what was
// asked before, nor on the spelling of the ring's nodes.
func TestAffinityIsOfTheKeyAlone(t *testing.T) {
	one := resolver.NewRing(parse(t, "http://a:80", "http://B:8000", "http://c")...)
	two := resolver.NewRing(parse(t, "http://C/", "http://A", "http://b:8000", "http://a")...)
	var plan resolver.Plan
	for key := range 1000 {
		hash, _ := resolver.Hash(number(fmt.Sprint(key)))
		plan.PreferKey(one, hash)
		want := one.Node(plan.At(0)).String()
		plan.PreferKey(two, hash)
		if got := two.Node(plan.At(0)).String(); got != want {
			t.Fatalf("key %d prefers %s and %s", key, got, want)
		}
	}
}
