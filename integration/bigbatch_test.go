package integration

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// A hundred writes are what Alternator takes at most by default, and four times
// what DynamoDB takes.
func TestAHundredWritesAreAHundredVotes(t *testing.T) {
	c, client := votingCluster(t, 5, "orders", "users")
	counts := make([]vote, 5)
	in := writes{}
	for i := range 100 {
		table := []string{"orders", "users"}[i%2]
		key := item{"pk": str(fmt.Sprintf("customer-%d", i))}
		if i%3 == 0 {
			in[table] = append(in[table], del(key))
		} else {
			in[table] = append(in[table], put(key))
		}
		node := preferred(t, c, key["pk"])
		counts[node] = vote{node, counts[node].count + 1}
	}
	want := slices.SortedFunc(slices.Values(counts), func(a, b vote) int {
		return cmp.Or(b.count-a.count, a.node-b.node)
	})

	d := send(t, client, batch(in))
	got, total := votesOf(c, d), 0
	for _, v := range got {
		total += v.count
	}
	if total != 100 {
		t.Errorf("%d votes were counted, want 100", total)
	}
	if !slices.Equal(got, want) {
		t.Errorf("votes %v, want %v", got, want)
	}
	if d.Coordinator != c.Node(want[0].node).URL() {
		t.Errorf("coordinator %s, want node %d", d.Coordinator, want[0].node)
	}

	in["orders"] = append(in["orders"], put(item{"pk": str("one more")}))
	_, err := client.BatchWriteItem(deadline(t), batch(in))
	if api := apiError(t, err); api.ErrorCode() != "ValidationException" {
		t.Errorf("101 writes are answered %s, want ValidationException", api.ErrorCode())
	}
}

// Writes that were left unprocessed are for the caller to send again: what
// remains may prefer another coordinator.
func TestUnprocessedItemsPassThrough(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	attach(t, c, p)
	var asked list[string]
	through := c.HTTPClient()
	answering := func(o *dynamodb.Options) {
		o.HTTPClient = httpClientFunc(func(r *http.Request) (*http.Response, error) {
			if operationOf(r) != "BatchWriteItem" {
				return through.Do(r)
			}
			asked.add(r.URL.Host)
			return reply(r, http.StatusOK, `{"UnprocessedItems":{"orders":[
				{"PutRequest":{"Item":{"pk":{"S":"a"},"n":{"N":"1.0"},"b":{"B":"AAE="},"l":{"L":[{"NULL":true}]}}}},
				{"DeleteRequest":{"Key":{"pk":{"S":"b"}}}}]},
				"ConsumedCapacity":[{"TableName":"orders","CapacityUnits":2.5}]}`), nil
		})
	}
	in := batch(writes{"orders": slices.Concat(newVoter(t, c).puts(2, 2), []types.WriteRequest{put(item{"pk": str("a")}), del(item{"pk": str("b")})})})
	bare, err := c.Client(answering).BatchWriteItem(deadline(t), in)
	if err != nil {
		t.Fatal(err)
	}
	asked.take()

	out, err := c.Client(answering, p.Attach).BatchWriteItem(deadline(t), in)
	if err != nil {
		t.Fatal(err)
	}
	want := writes{"orders": {
		put(item{"pk": str("a"), "n": num("1.0"), "b": bin("\x00\x01"),
			"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberNULL{Value: true}}}}),
		del(item{"pk": str("b")}),
	}}
	if !reflect.DeepEqual(out.UnprocessedItems, want) {
		t.Errorf("unprocessed are %v, want %v", out.UnprocessedItems, want)
	}
	if !reflect.DeepEqual(out.UnprocessedItems, bare.UnprocessedItems) || !reflect.DeepEqual(out.ConsumedCapacity, bare.ConsumedCapacity) {
		t.Errorf("the answer is %+v, without the plugin %+v", out, bare)
	}
	if got, want := asked.take(), []string{c.Node(2).HostPort()}; !slices.Equal(got, want) {
		t.Errorf("the nodes %v were asked, want %v", got, want)
	}
}
