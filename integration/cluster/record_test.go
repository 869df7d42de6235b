package cluster_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/keyroute/keyroute/integration/cluster"
)

func TestRecord(t *testing.T) {
	c := cluster.New(t)
	client := c.Client(once)
	createOrders(t, client, false)
	equal(t, "requests recorded unasked", len(c.Requests()), 0)

	c.Record(true)
	if err := put(t.Context(), client, "a", to(c.Node(2))); err != nil {
		t.Fatal(err)
	}
	get(t, c, c.Node(1).URL()+"/localnodes?dc=%64c1&rack=")
	c.Node(0).Inject(cluster.CloseAfterRequest())
	put(t.Context(), client, "a", as(aws.Credentials{AccessKeyID: "bob", SecretAccessKey: "x"}))
	c.Record(false)
	put(t.Context(), client, "a")

	requests := c.Requests()
	equal(t, "requests", len(requests), 3)
	first, second, third := requests[0], requests[1], requests[2]

	equal(t, "node", first.Node, 2)
	equal(t, "method and path", first.Method+" "+first.Path, "POST /")
	equal(t, "operation", first.Operation, "PutItem")
	equal(t, "host", first.Host, c.Node(2).HostPort())
	equal(t, "target", first.Header.Get("X-Amz-Target"), "DynamoDB_20120810.PutItem")
	equal(t, "status", first.Status, 200)
	equal(t, "signature is valid", first.SignatureValid, true)
	var body struct{ TableName string }
	if err := json.Unmarshal(first.Body, &body); err != nil || body.TableName != "orders" {
		t.Errorf("body is %s: %v", first.Body, err)
	}

	equal(t, "node", second.Node, 1)
	equal(t, "method and path", second.Method+" "+second.Path, "GET /localnodes")
	equal(t, "operation", second.Operation, cluster.LocalNodes)
	equal(t, "query", second.RawQuery, "dc=%64c1&rack=")
	equal(t, "status", second.Status, 200)
	equal(t, "signature is valid", second.SignatureValid, false)

	equal(t, "node", third.Node, 0)
	equal(t, "status of what was not answered", third.Status, 0)
	equal(t, "signature of another user is valid", third.SignatureValid, false)

	c.ResetRequests()
	equal(t, "requests after the reset", len(c.Requests()), 0)
}

func TestRecordDropsTheOldest(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) { o.RecordLimit = 3 })
	c.Record(true)
	var got []string
	for i := range 5 {
		get(t, c, c.Node(0).URL()+"/localnodes?"+strconv.Itoa(i))
	}
	for _, q := range c.Requests() {
		got = append(got, q.RawQuery)
	}
	if want := []string{"2", "3", "4"}; !slices.Equal(got, want) {
		t.Errorf("queries are %v, want %v", got, want)
	}
	c.ResetRequests()
	get(t, c, c.Node(0).URL()+"/localnodes?5")
	equal(t, "requests after the reset", len(c.Requests()), 1)
}
