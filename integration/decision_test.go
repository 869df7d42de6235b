package integration

import (
	"reflect"
	"slices"
	"sync"
	"testing"

	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

func TestTheDecisionIsInTheMetadata(t *testing.T) {
	c, client := votingCluster(t, 4, "orders")
	v := newVoter(t, c)
	ring := ringOf(t, c)
	url := func(i int) string { return c.Node(i).URL() }

	c.Node(3).Inject(oops().Times(1))
	c.Node(1).Inject(oops().Times(1))
	out, err := client.BatchWriteItem(deadline(t), batch(writes{"orders": v.puts(3, 1, 3)}))
	if err != nil {
		t.Fatal(err)
	}
	want := middleware.Decision{
		Coordinator: url(0),
		Reason:      middleware.ReasonVoted,
		Preferred:   url(3),
		Votes:       []resolver.Vote{{Node: ring.Node(3), Count: 2}, {Node: ring.Node(1), Count: 1}},
		Tried:       []string{url(3), url(1), url(0)},
		Mode:        middleware.AnyWrite,
	}
	for range 2 { // reading it does not change it
		got := decision(t, out.ResultMetadata)
		if len(got.Votes) != len(want.Votes) {
			t.Fatalf("votes %v, want %v", got.Votes, want.Votes)
		}
		for i, v := range got.Votes {
			if v.Node.String() != want.Votes[i].Node.String() || v.Count != want.Votes[i].Count {
				t.Errorf("vote %d is %v for %s, want %v for %s", i, v.Count, v.Node, want.Votes[i].Count, want.Votes[i].Node)
			}
		}
		got.Votes = want.Votes
		if !reflect.DeepEqual(got, want) {
			t.Errorf("decision\n%+v, want\n%+v", got, want)
		}
	}

	t.Run("of a bare client", func(t *testing.T) {
		out, err := c.Client().BatchWriteItem(deadline(t), batch(writes{"orders": v.puts(2)}))
		if err != nil {
			t.Fatal(err)
		}
		for name, metadata := range map[string]smithymiddleware.Metadata{"bare": out.ResultMetadata, "empty": {}} {
			if d, ok := middleware.DecisionOf(metadata); ok || !reflect.DeepEqual(d, middleware.Decision{}) {
				t.Errorf("%s: the decision is %+v, want none", name, d)
			}
		}
	})
}

// The metadata may be handed to several readers, such as logging and metrics.
func TestTheDecisionIsReadConcurrently(t *testing.T) {
	c, client := votingCluster(t, 4, "orders")
	out, err := client.BatchWriteItem(deadline(t), batch(writes{"orders": newVoter(t, c).puts(2, 1, 3, 3)}))
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			d, _ := middleware.DecisionOf(out.ResultMetadata)
			if got, want := votesOf(c, d), []vote{{3, 2}, {1, 1}, {2, 1}}; !slices.Equal(got, want) {
				t.Errorf("votes %v, want %v", got, want)
			}
		})
	}
	readers.Wait()
}

func TestNodesIsASnapshot(t *testing.T) {
	c := cluster.New(t, nodes(11))
	p := newPlugin(t, c, func(o *middleware.Options) { o.Seeds = []string{c.Node(10).URL(), c.Node(0).URL()} })
	endpoints := func() (list []string, states []discovery.State) {
		for _, status := range p.Nodes() {
			list, states = append(list, status.Endpoint), append(states, status.State)
		}
		return list, states
	}
	list, states := endpoints()
	if want := []string{c.Node(10).URL(), c.Node(0).URL()}; !slices.Equal(list, want) {
		t.Errorf("at first the nodes are %v, want the seeds %v", list, want)
	}
	if want := []discovery.State{discovery.Quarantined, discovery.Quarantined}; !slices.Equal(states, want) {
		t.Errorf("at first they are %v, want %v", states, want)
	}

	attach(t, c, p)
	list, states = endpoints()
	var want []string
	for _, i := range []int{9, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8} { // in canonical order
		want = append(want, c.Node(i).URL())
	}
	if !slices.Equal(list, want) {
		t.Errorf("the nodes are %v, want %v", list, want)
	}
	if want := slices.Repeat([]discovery.State{discovery.Active}, 11); !slices.Equal(states, want) {
		t.Errorf("they are %v, want each active", states)
	}

	snapshot := p.Nodes()
	clear(snapshot)
	if again, _ := endpoints(); !slices.Equal(again, want) {
		t.Errorf("after a change to the snapshot the nodes are %v, want %v", again, want)
	}
	if none := newPlugin(t, c, func(o *middleware.Options) { o.Seeds = nil }).Nodes(); none != nil {
		t.Errorf("without seeds the nodes are %v, want none", none)
	}
}
