package middleware

import (
	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/resolver"
)

// A walk takes the nodes of a plan, each once, and then starts again. Health
// has its say here, when a node is taken, and nowhere else: of the nodes that
// were not taken yet, the first one of the plan that is well is next, and only
// if none is, the first of those that are less so.
//
// The seeds that are not in the ring come behind the plan, and only until a node
// has answered the request: a seed may be a name that stands for any node, and
// it may lie outside the scope.
type walk struct {
	plan *resolver.Plan
	view *discovery.View

	taken    positions // of this cycle; those of seeds follow the plan's own
	nodes    int       // how many of the plan's nodes are taken
	seeds    int       // how many of the seeds are taken
	answered bool      // a node answered the request, if only with an error

	tried  []*resolver.Node // in all cycles
	inline [3]*resolver.Node
}

func (w *walk) begin(plan *resolver.Plan, view *discovery.View) {
	w.plan, w.view = plan, view
	w.tried = w.inline[:0]
}

// left returns how many nodes can be taken before the walk starts again.
func (w *walk) left() int {
	left := w.plan.Len() - w.nodes
	if !w.answered {
		left += len(w.view.Seeds()) - w.seeds
	}
	return left
}

// next takes a node.
func (w *walk) next() *discovery.Member {
	if w.left() == 0 {
		w.taken.clear()
		w.nodes, w.seeds = 0, 0
	}
	position := w.choose()
	w.taken.set(position)
	if position < w.plan.Len() {
		w.nodes++
	} else {
		w.seeds++
	}
	m := w.member(position)
	w.tried = append(w.tried, m.Node())
	return m
}

// moves returns how many times the walk went on to another node. It comes to
// the same one again if there is no other.
func (w *walk) moves() int {
	moves := 0
	for i := 1; i < len(w.tried); i++ {
		if w.tried[i] != w.tried[i-1] {
			moves++
		}
	}
	return moves
}

// choose returns the position to take. Nearly always it is the first that is
// looked at.
func (w *walk) choose() int {
	end := w.plan.Len()
	if !w.answered {
		end += len(w.view.Seeds())
	}
	best, bestRank := 0, worst+1
	for i := range end {
		if w.taken.has(i) {
			continue
		}
		if r := w.rank(i); r < bestRank {
			best, bestRank = i, r
			if r == 0 {
				break
			}
		}
	}
	return best
}

const worst = 5

// rank returns the class of a position; lower ones are taken first. A seed that
// is well is better than a node that gave no answer a moment ago: when the
// cluster advertises addresses that cannot be reached, requests do not wait for
// all of them.
func (w *walk) rank(position int) int {
	p := w.member(position).Preference()
	if position < w.plan.Len() {
		return [...]int{
			discovery.PreferActive:      0,
			discovery.PreferQuarantined: 1,
			discovery.PreferSuspected:   3,
			discovery.PreferDown:        4,
		}[p]
	}
	if p == discovery.PreferSuspected || p == discovery.PreferDown {
		return worst
	}
	return 2
}

// member returns the node in a position.
func (w *walk) member(position int) *discovery.Member {
	if n := w.plan.Len(); position >= n {
		return w.view.Seeds()[position-n]
	}
	return w.view.Member(w.plan.At(position))
}

// positions is a set of small numbers.
type positions struct {
	first uint64 // 0 to 63
	rest  []uint64
}

func (p *positions) has(i int) bool {
	if i < 64 {
		return p.first&(1<<i) != 0
	}
	word, bit := i/64-1, i%64
	return word < len(p.rest) && p.rest[word]&(1<<bit) != 0
}

func (p *positions) set(i int) {
	if i < 64 {
		p.first |= 1 << i
		return
	}
	word, bit := i/64-1, i%64
	for word >= len(p.rest) {
		p.rest = append(p.rest, 0)
	}
	p.rest[word] |= 1 << bit
}

func (p *positions) clear() {
	p.first = 0
	clear(p.rest)
}
