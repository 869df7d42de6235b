package resolver

import (
	"cmp"
	"slices"

	"github.com/keyroute/keyroute/internal/gorand"
)

// A Plan is the order in which one request tries the nodes of a ring. It is
// made once for a request by one of its Prefer methods, which may be called
// again to reuse the value, and is then read with [Plan.At].
//
// The first node of a plan is known when it is made and is all that most
// requests need; the order behind it is worked out when it is first asked for.
// So reading a plan changes it: a plan is not safe for concurrent use, and must
// not be copied once it was made. The zero value is a plan of no nodes.
type Plan struct {
	ring  *Ring
	first int32
	votes tally // empty but for a plan by votes

	// order is empty until a node behind the first is asked for. By votes it
	// then holds the plan. By key its tail holds the drawn nodes, the first one
	// last, and its head those that are still to be drawn; drawn counts the
	// former, and source, seeded with the key's hash, draws them.
	hash   int64
	source gorand.Source
	order  []int32
	drawn  int
}

// PreferKey makes the plan of one partition key, whose value has the given
// [Hash]: all clients in all languages make the same plan of the same key and
// ring. Each node is equally likely to be the first one, and when it fails the
// keys it was first for spread over all others.
//
// The order is defined by Go's math/rand: of rand.New(rand.NewSource(hash)),
// while nodes remain, Intn(remaining) gives the index of the next node, and the
// last remaining node moves to where it was.
func (p *Plan) PreferKey(ring *Ring, hash int64) {
	p.reset(ring)
	if ring.Len() == 0 {
		return
	}
	p.hash = hash
	p.first = preferred(ring, hash)
}

// preferred returns the first node of the plan of a key, the one it votes for.
// The ring must not be empty.
func preferred(ring *Ring, hash int64) int32 {
	return int32(gorand.First(hash, ring.Len()))
}

// PreferAny makes a plan for a request without affinity: a random permutation
// of the ring, chosen by random, any 64 random bits.
func (p *Plan) PreferAny(ring *Ring, random uint64) {
	p.PreferKey(ring, int64(random))
}

func (p *Plan) reset(ring *Ring) {
	p.ring = ring
	p.first = 0
	p.votes.reset()
	p.order = p.order[:0]
	p.drawn = 0
}

// Len returns the number of nodes in the plan, all of its ring's.
func (p *Plan) Len() int {
	if p.ring == nil {
		return 0
	}
	return p.ring.Len()
}

// At returns the ring index of the node that the plan tries in position i,
// counted from 0. It panics unless 0 <= i < Len().
func (p *Plan) At(i int) int {
	if i == 0 && p.Len() > 0 {
		return int(p.first)
	}
	if p.votes.len() > 0 {
		if len(p.order) == 0 {
			p.orderByVotes()
		}
		return int(p.order[i])
	}
	if len(p.order) == 0 {
		p.source = gorand.New(p.hash)
		p.order = slices.Grow(p.order, p.Len())
		for n := range p.Len() {
			p.order = append(p.order, int32(n))
		}
	}
	for p.drawn <= i {
		p.draw()
	}
	return int(p.order[len(p.order)-1-i])
}

// draw takes the next node of a plan by key out of the head of the order.
func (p *Plan) draw() {
	remaining := len(p.order) - p.drawn
	i := p.source.Intn(remaining)
	p.order[i], p.order[remaining-1] = p.order[remaining-1], p.order[i]
	p.drawn++
}

// orderByVotes lists the voted nodes, most votes first and ties in canonical
// order, and then the others in canonical order.
func (p *Plan) orderByVotes() {
	votes := p.votes.sorted()
	isVoted := make([]bool, p.Len())
	p.order = slices.Grow(p.order, p.Len())
	for _, v := range votes {
		p.order = append(p.order, v.index)
		isVoted[v.index] = true
	}
	for i, voted := range isVoted {
		if !voted {
			p.order = append(p.order, int32(i))
		}
	}
}

// A Vote is how many writes of a batch prefer one node.
type Vote struct {
	Node  *Node
	Count int
}

// Votes returns the voted nodes of a plan in the order in which it tries them,
// and nothing for a plan that was not made by votes.
func (p *Plan) Votes() []Vote {
	if p.votes.len() == 0 {
		return nil
	}
	// A copy is sorted, so that this reads the plan and no more.
	votes := make([]Vote, 0, p.votes.len())
	for _, v := range slices.SortedFunc(slices.Values(p.votes.all()), compareTallied) {
		votes = append(votes, Vote{Node: p.ring.Node(int(v.index)), Count: int(v.count)})
	}
	return votes
}

// tallied is the number of votes for the node with a ring index.
type tallied struct{ index, count int32 }

// compareTallied orders by count, descending, then by canonical rank.
func compareTallied(a, b tallied) int {
	return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.index, b.index))
}

// inlineVotes is how many different nodes a batch can vote for before the tally
// has to allocate.
const inlineVotes = 32

// tally is a list of voted nodes, without allocation while it is short.
type tally struct {
	n      int
	inline [inlineVotes]tallied
	spill  []tallied // everything, once inline is full
}

func (t *tally) len() int { return t.n }

func (t *tally) reset() {
	t.n = 0
	t.spill = t.spill[:0]
}

func (t *tally) add(v tallied) {
	switch {
	case t.n < inlineVotes:
		t.inline[t.n] = v
	case t.n == inlineVotes:
		t.spill = append(append(t.spill, t.inline[:]...), v)
	default:
		t.spill = append(t.spill, v)
	}
	t.n++
}

func (t *tally) all() []tallied {
	if t.n <= inlineVotes {
		return t.inline[:t.n]
	}
	return t.spill
}

// sorted returns the voted nodes in the order of their plan.
func (t *tally) sorted() []tallied {
	votes := t.all()
	slices.SortFunc(votes, compareTallied)
	return votes
}
