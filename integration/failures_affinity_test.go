package integration

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// eagerProbes is an option for a plugin that soon learns that a node is back.
func eagerProbes(o *middleware.Options) { o.Health.ProbeInterval = 20 * time.Millisecond }

// TestAffinityWhileANodeIsDown: only the keys of the node that is down move,
// and they come back.
func TestAffinityWhileANodeIsDown(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3, eagerProbes, downAtOnce)
	list := s.someKeys(60)
	s.wantAtHome(list)

	s.refuse(1)
	s.deletes(list) // the first of its keys finds out
	s.wantDown(1)
	s.wantMoved(list, 1)

	s.heal(1)
	eventually(t, "the node is active again", func() bool {
		status := s.health()[1]
		return status.State == discovery.Active && status.SuspectedFor == 0
	})
	s.wantAtHome(list)
}

// TestAffinityWhileANodeIsQuarantined has a node that answers requests and
// never says that it is ready.
func TestAffinityWhileANodeIsQuarantined(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	createTable(t, c, "items", "pk", "S")
	c.Node(1).Inject(cluster.GarbleLocalNodes(500, "text/plain", "not yet"))
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("items", "pk"), quiet, eagerProbes)
	s := &scene{Cluster: c, t: t, plugin: p, client: attach(t, c, p), ctx: deadline(t)}
	wantEqual(t, "state of the node", s.health()[1].State, discovery.Quarantined)
	list := s.someKeys(60)
	s.wantMoved(list, 1)

	s.heal(1)
	eventually(t, "the node is active", func() bool { return s.health()[1].State == discovery.Active })
	s.wantAtHome(list)
}

// TestKeysOfADeadNodeSpread: they do not all fall on one survivor.
func TestKeysOfADeadNodeSpread(t *testing.T) {
	t.Parallel()
	const total = 3000
	s := newScene(t, 4, downAtOnce)
	s.refuse(2)
	var list []types.AttributeValue
	ring := ringOf(t, s.Cluster)
	dead, _ := ring.Index(s.Node(2).URL())
	var plan resolver.Plan
	for i := 0; len(list) < total; i++ {
		key := str(fmt.Sprintf("key-%d", i))
		hash, _ := resolver.Hash(key)
		if plan.PreferKey(ring, hash); plan.At(0) == dead {
			list = append(list, key)
		}
	}
	counts := map[int]int{}
	for i, o := range s.deletes(list) {
		last := o.tried[len(o.tried)-1]
		counts[last]++
		hash, _ := resolver.Hash(list[i])
		plan.PreferKey(ring, hash)
		if want := s.NodeAt(ring.Node(plan.At(1)).String()).Index(); last != want {
			t.Fatalf("the write of %v went to node %d, want %d, the second of its plan", list[i], last, want)
		}
	}
	for _, survivor := range []int{0, 1, 3} {
		if share := float64(counts[survivor]) / total; share < 0.25 || share > 0.42 {
			t.Errorf("node %d took over %.1f %% of the keys, want 25 to 42", survivor, 100*share)
		}
	}
	wantEqual(t, "nodes that took keys over", len(counts), 3)
}

// TestVotesForADeadNode: the batches that it would coordinate go to the next
// of their votes.
func TestVotesForADeadNode(t *testing.T) {
	t.Parallel()
	s := newScene(t, 4, downAtOnce)
	in := batch(writes{"items": nil})
	for node, votes := range map[int]int{3: 4, 0: 3, 2: 2, 1: 1} {
		for i := 0; votes > 0; i++ {
			if key := str(fmt.Sprintf("vote-%d", i)); preferred(t, s.Cluster, key) == node {
				in.RequestItems["items"] = append(in.RequestItems["items"], del(item{"pk": key}))
				votes--
			}
		}
	}
	order := []int{3, 0, 2, 1}
	for dead := range order {
		out, err := s.client.BatchWriteItem(s.ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		s.want(s.outcome(out.ResultMetadata), 1, order[dead:dead+1]...)
		s.refuse(order[dead])
		if dead == len(order)-1 {
			break
		}
		out, err = s.client.BatchWriteItem(s.ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		s.want(s.outcome(out.ResultMetadata), 1, order[dead:dead+2]...)
	}
}

// TestLateAnswer: what a node answers to a request of the time before it went
// down does not bring it back.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3, downAtOnce)
	release, answered := s.heldWrite(1)
	s.Node(1).Inject(cluster.ResetAfterRequest().On("BatchWriteItem")) // not for the write that is held
	s.want(s.write(1), 2, s.order(1)[:2]...)
	s.wantDown(1)

	close(release)
	s.want(await(t, "late answer", answered), 1, 1)
	s.wantDown(1)
	s.want(s.write(1), 1, s.order(1)[1])
}

// TestLateAnswerOfANodeInQuarantine is about a node that went down and is on
// its way back, when any answer of this time would do.
func TestLateAnswerOfANodeInQuarantine(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3, downAtOnce, eagerProbes, func(o *middleware.Options) {
		o.Health.DownRecoveries, o.Health.QuarantinePromotion = 1, 1
	})
	release, answered := s.heldWrite(1)
	var probes atomic.Int32
	s.Node(1).Before(func(operation string, _ *http.Request) {
		if operation == cluster.LocalNodes && probes.Add(1) == 1 { // from the next one on
			s.Node(1).Inject(cluster.GarbleLocalNodes(500, "text/plain", "not yet"))
		}
	})
	s.Node(1).Inject(cluster.ResetAfterRequest().On("BatchWriteItem"))
	s.want(s.write(1), 2, s.order(1)[:2]...)
	eventually(t, "the node is in quarantine, and probed again", func() bool {
		return s.health()[1].State == discovery.Quarantined && probes.Load() > 2
	})

	close(release)
	s.want(await(t, "late answer", answered), 1, 1)
	wantEqual(t, "state after the late answer", s.health()[1].State, discovery.Quarantined)
}

// heldWrite begins a write that a node answers when release is closed.
func (s *scene) heldWrite(node int) (release chan struct{}, answered chan outcome) {
	s.t.Helper()
	release, answered = make(chan struct{}), make(chan outcome, 1)
	s.Node(node).Inject(cluster.Hold(release).On("BatchWriteItem").Times(1))
	in := s.writeTo(node)
	go func() {
		out, err := s.client.BatchWriteItem(s.ctx, in)
		if err != nil {
			s.t.Errorf("the write that was held failed: %v", err)
			close(answered)
			return
		}
		answered <- s.outcome(out.ResultMetadata)
	}()
	eventually(s.t, "the node holds a write", func() bool { return s.Node(node).Count("BatchWriteItem") == 1 })
	return release, answered
}

// someKeys returns keys of which each node is preferred by the same number.
func (s *scene) someKeys(n int) []types.AttributeValue {
	var list []types.AttributeValue
	counts := map[int]int{}
	for i := 0; len(list) < n; i++ {
		key := str(fmt.Sprintf("key-%d", i))
		if node := preferred(s.t, s.Cluster, key); counts[node] < n/len(s.Nodes()) {
			counts[node]++
			list = append(list, key)
		}
	}
	return list
}

// deletes makes a single write for each key, several at a time, and returns
// how they went. It deletes what is not there, which costs the cluster little.
func (s *scene) deletes(list []types.AttributeValue) []outcome {
	s.t.Helper()
	outcomes := make([]outcome, len(list))
	failures := make([]error, len(list))
	var writers sync.WaitGroup
	const parallel = 4
	for w := range parallel {
		writers.Go(func() {
			for i := w; i < len(list); i += parallel {
				out, err := s.client.DeleteItem(s.ctx, &dynamodb.DeleteItemInput{
					TableName: aws.String("items"), Key: item{"pk": list[i]}})
				if failures[i] = err; err == nil {
					outcomes[i] = s.outcome(out.ResultMetadata)
				}
			}
		})
	}
	writers.Wait()
	for i, err := range failures {
		if err != nil {
			s.t.Fatalf("the write of %v failed: %v", list[i], err)
		}
		if outcomes[i].attempts != 1 {
			s.t.Errorf("the write of %v took %d attempts", list[i], outcomes[i].attempts)
		}
	}
	return outcomes
}

// wantAtHome checks that writes go to the nodes that their keys prefer.
func (s *scene) wantAtHome(list []types.AttributeValue) {
	s.t.Helper()
	for i, o := range s.deletes(list) {
		if home := preferred(s.t, s.Cluster, list[i]); !slices.Equal(o.tried, []int{home}) {
			s.t.Errorf("the write of %v went to nodes %v, want %d", list[i], o.tried, home)
		}
	}
}

// wantMoved checks that the keys of one node, which is passed over, are written
// through the second nodes of their plans, and all others where they belong.
func (s *scene) wantMoved(list []types.AttributeValue, away int) {
	s.t.Helper()
	ring := ringOf(s.t, s.Cluster)
	for i, o := range s.deletes(list) {
		var plan resolver.Plan
		hash, _ := resolver.Hash(list[i])
		plan.PreferKey(ring, hash)
		want := preferred(s.t, s.Cluster, list[i])
		if want == away {
			want = s.NodeAt(ring.Node(plan.At(1)).String()).Index()
		}
		if !slices.Equal(o.tried, []int{want}) {
			s.t.Errorf("the write of %v went to nodes %v, want %d", list[i], o.tried, want)
		}
	}
}
