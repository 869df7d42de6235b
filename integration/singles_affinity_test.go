package integration

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/internal/vectors"
	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// Each key is written by all operations, and deleted in the end.
func TestSingleWritesMeetTheirBatch(t *testing.T) {
	const keysOfAType = 500
	c := cluster.New(t, nodes(5))
	ring := ringOf(t, c)
	known := keys("keys_S", "pk", "keys_N", "pk", "keys_B", "pk")
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite), known))
	for keyType, makeKey := range map[string]func(i int) types.AttributeValue{
		"S": func(i int) types.AttributeValue { return str(fmt.Sprintf("user-%03d", i)) },
		"N": func(i int) types.AttributeValue { return num(fmt.Sprint(i*7919 - 1_000_000)) },
		"B": func(i int) types.AttributeValue { return bin(fmt.Sprintf("%c\x00\xff%d", i, i)) },
	} {
		t.Run(keyType, func(t *testing.T) {
			table := "keys_" + keyType
			createTable(t, c, table, "pk", keyType)
			c.ResetCounts()
			ctx := deadline(t)
			expected := map[int]int{} // keys by node
			for i := range keysOfAType {
				key := makeKey(i)
				want := planOf(t, ring, key)[0]
				node := c.NodeAt(want).Index()
				if resolved := preferred(t, c, key); resolved != node {
					t.Fatalf("the resolver's plan begins with node %d, by its definition it is node %d", resolved, node)
				}
				expected[node]++
				for _, write := range []keyedWrite{putOne, batchOne, updateOne, deleteOne} {
					metadata, err := write.call(ctx, client, table, item{"pk": key})
					if err != nil {
						t.Fatal(err)
					}
					d := decision(t, metadata)
					if d.Coordinator != want || d.Preferred != want || len(d.Tried) != 1 {
						t.Errorf("%s of key %d was sent to %v, want %s", write.operation, i, d.Tried, want)
					}
					reason := middleware.ReasonKeyed
					if write.operation == "BatchWriteItem" {
						reason = middleware.ReasonVoted
					}
					if d.Reason != reason {
						t.Errorf("%s of key %d: %v, want %v", write.operation, i, d.Reason, reason)
					}
				}
			}
			for _, n := range c.Nodes() {
				for _, operation := range []string{"PutItem", "BatchWriteItem", "UpdateItem", "DeleteItem"} {
					if got := n.Count(operation); got != expected[n.Index()] {
						t.Errorf("node %d received %d %s, want %d", n.Index(), got, operation, expected[n.Index()])
					}
				}
			}
			if len(expected) != 5 {
				t.Errorf("the keys prefer %d nodes, want all of 5", len(expected))
			}
		})
	}
}

// The sort keys are ones that would prefer each of the nodes.
func TestTheSortKeyOfASingleWriteDoesNotMatter(t *testing.T) {
	c := cluster.New(t, nodes(4))
	createTable(t, c, "events", "id,at", "SS")
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite), keys("events", "id")))
	v := newVoter(t, c)
	for node := range 4 {
		partition := v.key(node)
		for other := range 4 {
			key := item{"id": partition, "at": v.key(other)}
			for _, write := range []keyedWrite{putOne, batchOne, updateOne, deleteOne} {
				metadata, err := write.call(deadline(t), client, "events", key)
				if err != nil {
					t.Fatal(err)
				}
				if d := decision(t, metadata); d.Coordinator != c.Node(node).URL() {
					t.Errorf("%s was sent to %s, want node %d", write.operation, d.Coordinator, node)
				}
			}
		}
	}
}

// Among them are keys that differ in nothing but their type, and empty ones,
// which no server takes.
func TestSingleWritesFollowTheHashVectors(t *testing.T) {
	b := &vectors.Batch{Nodes: tenAddresses(), PartitionKeys: map[string]string{"orders": "pk"}}
	c := newVectorCluster(t, b)
	c.fail = 0
	client := c.client(t, b)
	for _, v := range vectors.Hashes(t) {
		want := b.Nodes[drawn(v.Hash, len(b.Nodes))[0]]
		for _, write := range singleWrites {
			metadata, err := write.call(deadline(t), client, "orders", item{"pk": v.Value})
			if err != nil {
				t.Fatal(err)
			}
			if d := decision(t, metadata); d.Reason != middleware.ReasonKeyed || d.Preferred != want {
				t.Errorf("%s of %s: %v, prefers %s, want %s", write.operation, v.Name, d.Reason, d.Preferred, want)
			}
			if sent := c.batches.take(); len(sent) != 1 || sent[0] != want {
				t.Errorf("%s of %s was sent to %v, want %s", write.operation, v.Name, sent, want)
			}
		}
	}
}

// tenAddresses are the endpoints of nodes that nobody can dial, in ring order.
func tenAddresses() []string {
	var list []string
	for i := range 10 {
		list = append(list, fmt.Sprintf("http://10.0.0.%d:8000", 10+i))
	}
	return list
}

// Written one by one, the writes of a batch go where they vote for. One of the
// vectors has numbers that differ in their spelling.
func TestSingleWritesAddUpToTheVotesOfTheirBatch(t *testing.T) {
	for _, b := range vectors.Batches(t) {
		t.Run(b.Name, func(t *testing.T) {
			c := newVectorCluster(t, &b)
			c.fail = 0
			client := c.client(t, &b)
			counts := map[string]int{}
			for table, requests := range b.RequestItems {
				for _, w := range requests {
					write, attributes := putOne, item(nil)
					switch {
					case w.PutRequest != nil && w.DeleteRequest == nil:
						attributes = w.PutRequest.Item
					case w.DeleteRequest != nil && w.PutRequest == nil:
						write, attributes = deleteOne, w.DeleteRequest.Key
					}
					if attributes == nil {
						continue // no single operation is like it
					}
					metadata, err := write.call(deadline(t), client, table, attributes)
					if err != nil {
						t.Fatal(err)
					}
					if d := decision(t, metadata); d.Reason == middleware.ReasonKeyed {
						counts[d.Coordinator]++
					}
				}
			}
			if len(counts) != len(b.Votes) {
				t.Errorf("the writes went to %d nodes, want %d", len(counts), len(b.Votes))
			}
			for _, vote := range b.Votes {
				if counts[vote.Node] != vote.Count {
					t.Errorf("%d writes went to %s, want %d", counts[vote.Node], vote.Node, vote.Count)
				}
			}
		})
	}
}

// Three spellings of one number are three keys, as they are for the server.
func TestEverySpellingOfANumberIsAKeyOfItsOwn(t *testing.T) {
	b := &vectors.Batch{Nodes: tenAddresses(), PartitionKeys: map[string]string{"orders": "pk"}}
	c := newVectorCluster(t, b)
	c.fail = 0
	client := c.client(t, b)
	ring := mustRing(t, b.Nodes)
	preferred := map[string]bool{}
	for _, key := range []types.AttributeValue{num("1"), num("1.0"), num("1e0"), num("01"), num("+1"), str("1"), bin("1")} {
		metadata, err := putOne.call(deadline(t), client, "orders", item{"pk": key})
		if err != nil {
			t.Fatal(err)
		}
		want := planOf(t, ring, key)[0]
		if d := decision(t, metadata); d.Coordinator != want {
			t.Errorf("%v was sent to %s, want %s", key, d.Coordinator, want)
		}
		preferred[want] = true
	}
	if len(preferred) < 2 {
		t.Error("all spellings prefer one node, which shows nothing")
	}
}

func mustRing(t *testing.T, endpoints []string) *resolver.Ring {
	t.Helper()
	var list []*resolver.Node
	for _, endpoint := range endpoints {
		node, err := resolver.ParseNode(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, node)
	}
	return resolver.NewRing(list...)
}
