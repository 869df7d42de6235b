package discovery

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/keyroute/keyroute/resolver"
)

// maxUnanswered is how long a datacenter stays in the ring when none of its
// nodes answers any more, while others do.
const maxUnanswered = 10 * time.Minute

// A group is the nodes that answers agree to be one datacenter: a node lists
// those of its own only. Groups are told apart by having no node in common.
type group struct {
	nodes    []*resolver.Node
	answered time.Time // when one of its nodes last listed it
}

func (g *group) has(node *resolver.Node) bool {
	return slices.ContainsFunc(g.nodes, func(n *resolver.Node) bool { return n.String() == node.String() })
}

func (g *group) overlaps(nodes []*resolver.Node) bool { return slices.ContainsFunc(nodes, g.has) }

// fetchCluster asks every seed, and then for each datacenter of which no seed
// told a node of its own. What one datacenter answers says nothing about
// another: if nobody of it answers, its last good list stays for a while.
func (n *Nodes) fetchCluster(ctx context.Context) ([]*resolver.Node, error) {
	now := time.Now()
	answers, err := n.askSeeds(ctx)
	var kept []group
	for i := range n.groups {
		g := &n.groups[i]
		if slices.ContainsFunc(answers, g.overlaps) {
			continue
		}
		if nodes := n.askGroup(ctx, g); nodes != nil {
			answers = append(answers, nodes)
		} else if now.Sub(g.answered) < maxUnanswered {
			kept = append(kept, *g)
		}
	}
	if len(answers) == 0 {
		return nil, err
	}
	groups := kept
	for _, answer := range answers {
		groups = merge(groups, group{nodes: answer, answered: now})
	}
	n.groups = groups
	var nodes []*resolver.Node
	for _, g := range groups {
		nodes = append(nodes, g.nodes...)
	}
	return nodes, nil
}

// merge adds a group to others, as one with each that it has a node in common
// with.
func merge(groups []group, added group) []group {
	apart := make([]group, 0, len(groups)+1)
	for _, g := range groups {
		if g.overlaps(added.nodes) {
			added.nodes = append(added.nodes, g.nodes...)
		} else {
			apart = append(apart, g)
		}
	}
	return append(apart, added)
}

// askSeeds asks all seeds, a few at a time, and returns the good answers. The
// error is that of the others.
func (n *Nodes) askSeeds(ctx context.Context) ([][]*resolver.Node, error) {
	seeds := n.seedMembers()
	answers := make([][]*resolver.Node, len(seeds))
	failures := make([]error, len(seeds))
	var asking sync.WaitGroup
	tokens := make(chan struct{}, maxParallel)
	for i, m := range seeds {
		tokens <- struct{}{}
		asking.Go(func() {
			answers[i], failures[i] = n.ask(ctx, m, nil)
			<-tokens
		})
	}
	asking.Wait()
	answers = slices.DeleteFunc(answers, func(a []*resolver.Node) bool { return a == nil })
	return answers, errors.Join(failures...)
}

// askGroup asks some nodes of a group, one after the other, and returns the
// first good answer or nil.
func (n *Nodes) askGroup(ctx context.Context, g *group) []*resolver.Node {
	for _, m := range n.membersOf(g.nodes, maxAsked) {
		if nodes, err := n.ask(ctx, m, nil); err == nil {
			return nodes
		}
	}
	return nil
}
