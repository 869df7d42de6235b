package discovery

import (
	"context"
	"errors"
	"maps"
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
	nodes    map[string]*resolver.Node // by canonical endpoint
	answered time.Time                 // when one of its nodes last listed it
}

func (g *group) overlaps(nodes []*resolver.Node) bool {
	return slices.ContainsFunc(nodes, func(n *resolver.Node) bool { return g.nodes[n.String()] != nil })
}

// fetchCluster asks every seed, and then, for each datacenter of which no seed
// told, nodes of its own. What one datacenter answers says nothing about
// another: if nobody of it answers, its last good list stays for a while. If
// there was only one, an answer without any of its nodes means that they were
// all replaced.
func (n *Nodes) fetchCluster(ctx context.Context) ([]*resolver.Node, error) {
	now := time.Now()
	answers, err := n.askAll(ctx, n.membersOf(n.seeds.Nodes()))
	var kept []group
	for i := range n.groups {
		g := &n.groups[i]
		if slices.ContainsFunc(answers, g.overlaps) {
			continue
		}
		told, _ := n.askAll(ctx, likeliest(n.membersOf(slices.Collect(maps.Values(g.nodes))), maxAsked))
		if len(told) > 0 {
			answers = append(answers, told...)
		} else if len(n.groups) > 1 && now.Sub(g.answered) < maxUnanswered {
			kept = append(kept, *g)
		}
	}
	if len(answers) == 0 {
		return nil, err
	}
	n.groups = kept
	for _, answer := range answers {
		n.groups = merge(n.groups, answer, now)
	}
	var nodes []*resolver.Node
	for _, g := range n.groups {
		nodes = slices.AppendSeq(nodes, maps.Values(g.nodes))
	}
	return nodes, nil
}

// merge adds an answer to groups, as one with each that it has a node in common
// with. Of several spellings of a node the first is kept.
func merge(groups []group, answer []*resolver.Node, now time.Time) []group {
	added := group{nodes: make(map[string]*resolver.Node, len(answer)), answered: now}
	var apart []group
	for _, g := range groups {
		if g.overlaps(answer) {
			maps.Copy(added.nodes, g.nodes)
		} else {
			apart = append(apart, g)
		}
	}
	for _, node := range answer {
		if added.nodes[node.String()] == nil {
			added.nodes[node.String()] = node
		}
	}
	return append(apart, added)
}

// askAll asks nodes, a few at a time, and returns the good answers. The error is
// that of the others.
func (n *Nodes) askAll(ctx context.Context, members []*Member) ([][]*resolver.Node, error) {
	answers := make([][]*resolver.Node, len(members))
	failures := make([]error, len(members))
	tokens := make(chan struct{}, maxParallel)
	var asking sync.WaitGroup
	for i, m := range members {
		tokens <- struct{}{}
		asking.Go(func() {
			answers[i], failures[i] = n.ask(ctx, m, "")
			<-tokens
		})
	}
	asking.Wait()
	answers = slices.DeleteFunc(answers, func(a []*resolver.Node) bool { return a == nil })
	return answers, errors.Join(failures...)
}
