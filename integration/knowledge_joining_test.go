package integration

import (
	"testing"
	"time"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

func TestNodesJoinAndLeaveUnderLoad(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3, brisk)
	changes := s.plugin.Stats().Refreshes.Changes
	underLoad(t, s.client, func() {
		for _, step := range []struct {
			name string
			do   func()
			want int // nodes that are left
		}{
			{"a node joins", func() { s.join(s.Join) }, 4},
			{"another one joins", func() { s.join(s.Join) }, 5},
			{"a node is decommissioned", func() { s.Node(1).Leave() }, 4},
			{"the seed is decommissioned", func() { s.Node(0).Leave() }, 3},
			{"a node dies", func() { s.Node(4).Leave(); s.Node(4).Refuse() }, 2},
			{"it comes back", func() { s.heal(4); s.Node(4).Rejoin() }, 3},
		} {
			moreWrites(t, s.Cluster, 20)
			step.do()
			eventually(t, step.name, func() bool { return len(s.plugin.Nodes()) == step.want })
			changes++
			refreshes := s.plugin.Stats().Refreshes.Refreshes
			eventually(t, "the list is fetched again", func() bool { return s.plugin.Stats().Refreshes.Refreshes >= refreshes+3 })
			if got := s.plugin.Stats().Refreshes.Changes; got != changes {
				t.Errorf("%s: %d changes of the ring so far, want %d", step.name, got, changes)
			}
		}
	})
	wantKnown(t, s.Cluster, s.plugin, 2, 3, 4)
	if stats := s.plugin.Stats(); stats.Refreshes.Failures != 0 || stats.LastRefreshError != nil {
		t.Errorf("%d refreshes failed, the last one with %v", stats.Refreshes.Failures, stats.LastRefreshError)
	}
}

func (s *scene) join(join func() (*cluster.Node, error)) *cluster.Node {
	s.t.Helper()
	n, err := join()
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// A real node is listed some seconds before its port opens.
func TestANodeThatIsListedBeforeItListens(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(1))
	s := newSceneOf(t, c, nil, func(o *middleware.Options) { o.Health.ProbeInterval = 20 * time.Millisecond })
	late := s.join(s.JoinClosed)
	refresh(t, s.plugin)
	wantKnown(t, c, s.plugin, 0, 1)
	for range 10 {
		for node := range 2 {
			if o := s.write(node); o.Coordinator != c.Node(0).URL() || o.attempts != 1 {
				t.Errorf("sent to %s in %d attempts, want %s in 1", o.Coordinator, o.attempts, c.Node(0).URL())
			}
		}
	}
	s.heal(1)
	eventually(t, "the node has the writes that prefer it", func() bool {
		return s.write(1).Coordinator == late.URL()
	})
	s.want(s.write(0), 1, 0)
}
