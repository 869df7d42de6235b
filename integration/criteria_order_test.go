package integration

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

func TestCriterion09AStrictMajorityPutsItsNodeFirst(t *testing.T) {
	c, client := votingCluster(t, 4, "orders", "users")
	v := newVoter(t, c)
	for node, want := range []struct {
		votes []vote
		order []int
	}{
		{[]vote{{0, 5}, {1, 1}, {2, 1}, {3, 1}}, []int{0, 1, 2, 3}},
		{[]vote{{1, 5}, {0, 1}, {2, 1}, {3, 1}}, []int{1, 0, 2, 3}},
		{[]vote{{2, 5}, {0, 1}, {1, 1}, {3, 1}}, []int{2, 0, 1, 3}},
		{[]vote{{3, 5}, {0, 1}, {1, 1}, {2, 1}}, []int{3, 0, 1, 2}},
	} {
		t.Run(fmt.Sprintf("node %d", node), func(t *testing.T) {
			// In neither table alone does the node have the majority.
			in := batch(writes{"orders": v.puts(0, node, 1, node), "users": v.puts(2, node, 3, node)})
			checkRoute(t, c, client, in, want.votes, want.order)
		})
	}
}

// Node 9 is 127.0.0.10 and node 10 is 127.0.0.11, which come before 127.0.0.1
// because of the colon that follows it.
func TestCriterion10EqualVotesGoByCanonicalAddress(t *testing.T) {
	c, client := votingCluster(t, 11, "orders")
	v := newVoter(t, c)
	for _, test := range []struct {
		prefer []int
		votes  []vote
		order  []int
	}{
		{[]int{0, 9}, []vote{{9, 1}, {0, 1}}, []int{9, 0, 10, 1, 2, 3, 4, 5, 6, 7, 8}},
		{[]int{8, 1, 8, 1, 0}, []vote{{1, 2}, {8, 2}, {0, 1}}, []int{1, 8, 0, 9, 10, 2, 3, 4, 5, 6, 7}},
		{[]int{3, 0, 10, 9}, []vote{{9, 1}, {10, 1}, {0, 1}, {3, 1}}, []int{9, 10, 0, 3, 1, 2, 4, 5, 6, 7, 8}},
		{
			[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
			[]vote{{9, 1}, {10, 1}, {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}},
			[]int{9, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8},
		},
	} {
		t.Run(fmt.Sprint(test.prefer), func(t *testing.T) {
			checkRoute(t, c, client, batch(writes{"orders": v.puts(test.prefer...)}), test.votes, test.order)
		})
	}
}

func TestCriterion11VotedNodesComeBeforeAllOthers(t *testing.T) {
	c, client := votingCluster(t, 5, "orders")
	v := newVoter(t, c)
	for _, test := range []struct{ prefer, order []int }{
		{[]int{3}, []int{3, 0, 1, 2, 4}},
		{[]int{4, 2, 4}, []int{4, 2, 0, 1, 3}},
		{[]int{3, 3, 3, 1, 1, 4, 4}, []int{3, 1, 4, 0, 2}},
		{[]int{4, 4, 3, 3, 3, 1, 1, 1, 1, 2}, []int{1, 3, 4, 2, 0}},
		{[]int{4, 4, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 1, 1, 0}, []int{4, 3, 2, 1, 0}},
	} {
		t.Run(fmt.Sprint(test.prefer), func(t *testing.T) {
			last := test.order[len(test.order)-1]
			for _, node := range test.order[:len(test.order)-1] {
				c.Node(node).Inject(oops())
			}
			defer heal(t, c)
			c.ResetRequests()
			c.Record(true)
			defer c.Record(false)
			d := send(t, client, batch(writes{"orders": v.puts(test.prefer...)}))

			if got := asked(c, "BatchWriteItem"); !slices.Equal(got, test.order) {
				t.Errorf("the nodes %v were asked, want %v", got, test.order)
			}
			for i, r := range requestsOf(c, "BatchWriteItem") {
				if want := map[bool]int{true: 200, false: 500}[r.Node == last]; r.Status != want {
					t.Errorf("request %d: node %d answered %d, want %d", i, r.Node, r.Status, want)
				}
			}
			if got := indexes(c, d.Tried); !slices.Equal(got, test.order) {
				t.Errorf("the decision tells of the nodes %v, want %v", got, test.order)
			}
			if d.Coordinator != c.Node(last).URL() || d.Preferred != c.Node(test.order[0]).URL() {
				t.Errorf("coordinator %s and preferred %s, want the nodes %d and %d", d.Coordinator, d.Preferred, last, test.order[0])
			}
		})
	}
}

// Whatever keeps the writes from voting, the batch succeeds, and such batches
// are spread over all nodes.
func TestCriterion12WithoutVotesABatchIsRoutedOrdinarily(t *testing.T) {
	c := cluster.New(t, nodes(3))
	for _, table := range []string{"undescribed", "keyless", "flags"} {
		createTable(t, c, table, "pk", "S")
	}
	answer := make(chan struct{})
	defer close(answer)
	c.Inject(cluster.Hold(answer).On("DescribeTable"))
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite), keys("keyless", "absent", "flags", "flag")))
	same := newVoter(t, c).key(1) // with a vote it would always be the same node

	for table, write := range map[string]item{
		"undescribed": {"pk": same},
		"keyless":     {"pk": same},
		"flags":       {"pk": same, "flag": &types.AttributeValueMemberBOOL{Value: true}},
	} {
		t.Run(table, func(t *testing.T) {
			c.ResetCounts()
			for i := range spreadCalls {
				write["n"] = num(fmt.Sprint(i))
				d := send(t, client, batch(writes{table: {put(write)}}))
				if d.Reason != middleware.ReasonNoVotes || d.Votes != nil || len(d.Tried) != 1 {
					t.Fatalf("routed with the reason %v, the votes %v, to %v", d.Reason, d.Votes, d.Tried)
				}
			}
			checkSpread(t, c, "BatchWriteItem")
			out, err := c.Client().GetItem(deadline(t), &dynamodb.GetItemInput{TableName: &table, Key: item{"pk": same}})
			if err != nil {
				t.Fatal(err)
			}
			if n, ok := out.Item["n"].(*types.AttributeValueMemberN); !ok || n.Value != fmt.Sprint(spreadCalls-1) {
				t.Errorf("the item that was written last is %v, want that of the last batch", out.Item)
			}
		})
	}
}

// checkSpread checks that every node received some requests of an operation.
func checkSpread(t *testing.T, c *cluster.Cluster, operation string) {
	t.Helper()
	for _, n := range c.Nodes() {
		if n.Count(operation) == 0 {
			t.Errorf("of %d %s none went to node %d", c.Count(operation), operation, n.Index())
		}
	}
}
