package resolver

import (
	"slices"
	"strings"
)

// A Ring is a list of nodes in canonical order without duplicates, the base of
// hashing and voting. It is immutable and safe for concurrent use. The zero
// value is an empty ring.
//
// Nodes are addressed by their index in it, 0 to Len()-1, which is also their
// rank in canonical order.
type Ring struct {
	nodes []*Node
}

// NewRing returns the ring of the given nodes, in any order and with any
// repetitions. Of several spellings of one node the first is kept. The slice is
// not retained; nil nodes are left out.
func NewRing(nodes ...*Node) *Ring {
	type listed struct {
		*Node
		position int // in the list
	}
	sorted := make([]listed, 0, len(nodes))
	for i, n := range nodes {
		if n != nil {
			sorted = append(sorted, listed{n, i})
		}
	}
	// By position in the end, so that the first spelling of each node comes
	// first; cheaper than a stable sort.
	slices.SortFunc(sorted, func(a, b listed) int {
		if c := strings.Compare(a.canonical, b.canonical); c != 0 {
			return c
		}
		return a.position - b.position
	})
	ring := &Ring{nodes: make([]*Node, 0, len(sorted))}
	for i, n := range sorted {
		if i == 0 || n.canonical != sorted[i-1].canonical {
			ring.nodes = append(ring.nodes, n.Node)
		}
	}
	return ring
}

// Len returns the number of nodes.
func (r *Ring) Len() int { return len(r.nodes) }

// Node returns the node with index i. It panics unless 0 <= i < Len().
func (r *Ring) Node(i int) *Node { return r.nodes[i] }

// Nodes returns the nodes in canonical order, in a slice of the caller's own.
func (r *Ring) Nodes() []*Node { return slices.Clone(r.nodes) }

// Index returns the index of the node with the given canonical endpoint, and
// whether there is one.
func (r *Ring) Index(canonical string) (int, bool) {
	return slices.BinarySearchFunc(r.nodes, canonical, func(n *Node, c string) int {
		return strings.Compare(n.canonical, c)
	})
}

// Equal reports whether both rings have the same nodes, however they are spelt.
func (r *Ring) Equal(other *Ring) bool {
	return slices.EqualFunc(r.nodes, other.nodes, func(a, b *Node) bool {
		return a.canonical == b.canonical
	})
}
