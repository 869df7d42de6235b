package resolver_test

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Attribute values and writes, shortly.

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
func binary(b string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(b)} }

type attributes = map[string]types.AttributeValue

func put(a attributes) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: a}}
}

func del(a attributes) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: a}}
}

// batchOf returns a batch of n puts to one table, whose partition key is "pk".
func batchOf(n int) map[string][]types.WriteRequest {
	writes := make([]types.WriteRequest, n)
	for i := range writes {
		writes[i] = put(attributes{"pk": text(fmt.Sprintf("user-%06d", i)), "data": text("x")})
	}
	return map[string][]types.WriteRequest{"users": writes}
}

// knownKeys are the partition keys that random batches are written for; the
// tables "events" and "audit" are not known.
var knownKeys = map[string]string{"users": "id", "orders": "pk", "tags": "pk"}

var randomTables = []string{"users", "orders", "tags", "events", "audit"}

// randomBatch returns a batch of n writes of every form, good and bad, with
// keys drawn from the given values.
func randomBatch(random *rand.Rand, n int, keys []types.AttributeValue) map[string][]types.WriteRequest {
	tables := randomTables[:1+random.Intn(len(randomTables))]
	batch := map[string][]types.WriteRequest{}
	for range n {
		table := tables[random.Intn(len(tables))]
		batch[table] = append(batch[table], randomWrite(random, knownKeys[table], keys))
	}
	if random.Intn(10) == 0 {
		batch["empty"] = nil
	}
	return batch
}

func randomWrite(random *rand.Rand, key string, keys []types.AttributeValue) types.WriteRequest {
	a := attributes{"sk": keys[random.Intn(len(keys))]}
	switch random.Intn(20) {
	case 0:
		// no key
	case 1:
		a[key] = &types.AttributeValueMemberBOOL{Value: true}
	case 2:
		a[key] = nil
	case 3:
		a = attributes{}
	default:
		a[key] = keys[random.Intn(len(keys))]
	}
	switch random.Intn(20) {
	case 0:
		return types.WriteRequest{}
	case 1:
		return types.WriteRequest{PutRequest: put(a).PutRequest, DeleteRequest: del(a).DeleteRequest}
	case 2, 3, 4, 5, 6, 7, 8:
		return del(a)
	}
	return put(a)
}

// shuffled returns the same batch with its writes in another order, in a map
// and slices of its own.
func shuffled(random *rand.Rand, batch map[string][]types.WriteRequest) map[string][]types.WriteRequest {
	tables := slices.Sorted(maps.Keys(batch))
	rebuilt := make(map[string][]types.WriteRequest)
	for _, t := range random.Perm(len(tables)) {
		requests := batch[tables[t]]
		writes := make([]types.WriteRequest, len(requests))
		for to, from := range random.Perm(len(requests)) {
			writes[to] = requests[from]
		}
		rebuilt[tables[t]] = writes
	}
	return rebuilt
}
