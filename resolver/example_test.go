package resolver_test

import (
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

// A client knows its nodes by their endpoints, in any order.
func exampleRing() *resolver.Ring {
	var nodes []*resolver.Node
	for _, endpoint := range []string{
		"http://10.0.0.3:8000", "http://10.0.0.1:8000", "http://10.0.0.2:8000",
	} {
		node, err := resolver.ParseNode(endpoint)
		if err != nil {
			log.Fatal(err)
		}
		nodes = append(nodes, node)
	}
	return resolver.NewRing(nodes...)
}

// The coordinator of all writes to one item, and the nodes to try after it.
func ExamplePlan_PreferKey() {
	ring := exampleRing()
	hash, ok := resolver.Hash(&types.AttributeValueMemberS{Value: "user-001"})
	if !ok {
		log.Fatal("not a key")
	}
	var plan resolver.Plan
	plan.PreferKey(ring, hash)
	for i := range plan.Len() {
		fmt.Println(ring.Node(plan.At(i)))
	}
	// Output:
	// http://10.0.0.1:8000
	// http://10.0.0.2:8000
	// http://10.0.0.3:8000
}

func ExampleHash() {
	fmt.Println(resolver.Hash(&types.AttributeValueMemberS{Value: "12345"}))
	fmt.Println(resolver.Hash(&types.AttributeValueMemberN{Value: "12345"}))
	fmt.Println(resolver.Hash(&types.AttributeValueMemberBOOL{Value: true}))
	// Output:
	// -6122888897254035317 true
	// -3190731486301745196 true
	// 0 false
}

// Tables is a fixed set of tables with their partition keys.
type tables map[string]string

func (t tables) PartitionKey(table string) (string, bool) {
	attribute, ok := t[table]
	return attribute, ok
}

func (t tables) KeyMissing(string, string) {}

// The coordinator of a batch is the one that most of its writes prefer.
func ExamplePlan_PreferVoted() {
	user := func(id string) types.WriteRequest {
		return types.WriteRequest{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: id},
		}}}
	}
	writes := map[string][]types.WriteRequest{
		"users": {user("user-001"), user("user-002"), user("user-003"), user("user-004"), user("user-005"), user("user-007")},
	}

	ring := exampleRing()
	var plan resolver.Plan
	if !plan.PreferVoted(ring, writes, tables{"users": "id"}) {
		plan.PreferAny(ring, 1) // nothing to go by
	}
	fmt.Println("coordinator:", ring.Node(plan.At(0)))
	for _, vote := range plan.Votes() {
		fmt.Println(vote.Node, vote.Count)
	}
	// Output:
	// coordinator: http://10.0.0.2:8000
	// http://10.0.0.2:8000 3
	// http://10.0.0.3:8000 2
	// http://10.0.0.1:8000 1
}
