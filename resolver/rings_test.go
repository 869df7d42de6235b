package resolver_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/keyroute/keyroute/resolver"
)

// mostNodes is the size of the largest ring in these tests.
const mostNodes = 2000

var manyNodes = sync.OnceValue(func() []*resolver.Node {
	nodes := make([]*resolver.Node, mostNodes)
	for i := range nodes {
		n, err := resolver.ParseNode(fmt.Sprintf("http://10.%d.%d.%d:8000", i%7, i/256, i%256))
		if err != nil {
			panic(err)
		}
		nodes[i] = n
	}
	return nodes
})

var rings sync.Map // from number of nodes to *resolver.Ring

// ringOf returns a ring of n nodes, always the same one.
func ringOf(n int) *resolver.Ring {
	if ring, ok := rings.Load(n); ok {
		return ring.(*resolver.Ring)
	}
	ring, _ := rings.LoadOrStore(n, resolver.NewRing(manyNodes()[:n]...))
	return ring.(*resolver.Ring)
}

// parse returns the nodes of endpoints that must be good.
func parse(t testing.TB, endpoints ...string) []*resolver.Node {
	t.Helper()
	nodes := make([]*resolver.Node, len(endpoints))
	for i, endpoint := range endpoints {
		n, err := resolver.ParseNode(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = n
	}
	return nodes
}

// canonical returns the nodes of a ring as text.
func canonical(ring *resolver.Ring) []string {
	text := make([]string, ring.Len())
	for i := range text {
		text[i] = ring.Node(i).String()
	}
	return text
}

// orderOf reads a whole plan, first to last.
func orderOf(plan *resolver.Plan) []int {
	order := make([]int, plan.Len())
	for i := range order {
		order[i] = plan.At(i)
	}
	return order
}

// isPermutation reports whether an order has each node of a ring once.
func isPermutation(order []int, nodes int) bool {
	seen := make([]bool, nodes)
	for _, node := range order {
		if node < 0 || node >= nodes || seen[node] {
			return false
		}
		seen[node] = true
	}
	return len(order) == nodes
}

// mustPanic runs a call that must panic.
func mustPanic(t *testing.T, what string, call func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	call()
}
