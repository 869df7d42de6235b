package integration

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// A voter makes keys that prefer given nodes of a cluster, each key once, so
// that a test can say how its batch is to vote.
type voter struct {
	t       testing.TB
	cluster *cluster.Cluster
	ring    *resolver.Ring
	made    int
	spare   map[int][]types.AttributeValue // keys that were made and not asked for, by node
}

func newVoter(t testing.TB, c *cluster.Cluster) *voter {
	return &voter{t: t, cluster: c, ring: ringOf(t, c), spare: map[int][]types.AttributeValue{}}
}

// key returns a key that prefers a node.
func (v *voter) key(node int) types.AttributeValue {
	v.t.Helper()
	for range 100_000 {
		if keys := v.spare[node]; len(keys) > 0 {
			v.spare[node] = keys[1:]
			return keys[0]
		}
		key := str(fmt.Sprintf("voter-%d", v.made))
		v.made++
		hash, _ := resolver.Hash(key)
		var plan resolver.Plan
		plan.PreferKey(v.ring, hash)
		prefers := v.cluster.NodeAt(v.ring.Node(plan.At(0)).String()).Index()
		v.spare[prefers] = append(v.spare[prefers], key)
	}
	v.t.Fatalf("no key prefers node %d", node)
	return nil
}

// puts returns items with the key attribute pk, one for each of the nodes that
// they are to prefer.
func (v *voter) puts(nodes ...int) []types.WriteRequest {
	var list []types.WriteRequest
	for _, node := range nodes {
		list = append(list, put(item{"pk": v.key(node), "data": str("x")}))
	}
	return list
}

// deletes is as puts.
func (v *voter) deletes(nodes ...int) []types.WriteRequest {
	var list []types.WriteRequest
	for _, node := range nodes {
		list = append(list, del(item{"pk": v.key(node)}))
	}
	return list
}

// vote is how many writes of a batch prefer a node.
type vote struct{ node, count int }

// votesOf are the votes of a call, in the order of its plan.
func votesOf(c *cluster.Cluster, d middleware.Decision) []vote {
	var votes []vote
	for _, v := range d.Votes {
		votes = append(votes, vote{c.NodeAt(v.Node.String()).Index(), v.Count})
	}
	return votes
}

// indexes are the nodes with the given endpoints.
func indexes(c *cluster.Cluster, endpoints []string) []int {
	var list []int
	for _, endpoint := range endpoints {
		list = append(list, c.NodeAt(endpoint).Index())
	}
	return list
}

// send makes a call that must succeed, and tells how it was routed.
func send(t testing.TB, client *dynamodb.Client, in *dynamodb.BatchWriteItemInput, optFns ...func(*dynamodb.Options)) middleware.Decision {
	t.Helper()
	out, err := client.BatchWriteItem(deadline(t), in, optFns...)
	if err != nil {
		t.Fatal(err)
	}
	return decision(t, out.ResultMetadata)
}

// oops is an error that a client retries.
func oops() cluster.Fault {
	return cluster.Answer(500, "InternalServerError", "oops").On("BatchWriteItem")
}

// orderOf returns the nodes that a batch is sent to, attempt by attempt, while
// each of them answers 500. The client must make as many attempts as there are
// nodes.
func orderOf(t testing.TB, c *cluster.Cluster, client *dynamodb.Client, in *dynamodb.BatchWriteItemInput) []int {
	t.Helper()
	c.Inject(oops())
	defer heal(t, c)
	c.ResetRequests()
	c.Record(true)
	defer c.Record(false)
	if _, err := client.BatchWriteItem(deadline(t), in); err == nil {
		t.Fatal("a batch succeeded though every node answers 500")
	}
	return asked(c, "BatchWriteItem")
}

func heal(t testing.TB, c *cluster.Cluster) {
	t.Helper()
	if err := c.Heal(); err != nil {
		t.Fatal(err)
	}
}

// checkRoute checks how a batch is routed: that it reaches the first node of
// the order, with which votes, and where its retries go.
func checkRoute(t *testing.T, c *cluster.Cluster, client *dynamodb.Client, in *dynamodb.BatchWriteItemInput, votes []vote, order []int) {
	t.Helper()
	d := send(t, client, in)
	if d.Reason != middleware.ReasonVoted {
		t.Errorf("reason %v, want %v", d.Reason, middleware.ReasonVoted)
	}
	if got := votesOf(c, d); !slices.Equal(got, votes) {
		t.Errorf("votes %v, want %v", got, votes)
	}
	if got := indexes(c, d.Tried); !slices.Equal(got, order[:1]) {
		t.Errorf("it was sent to the nodes %v, want %v", got, order[:1])
	}
	if got := orderOf(t, c, client, in); !slices.Equal(got, order) {
		t.Errorf("retries asked the nodes %v, want %v", got, order)
	}
}
