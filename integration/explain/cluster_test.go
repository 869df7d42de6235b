package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
)

// createTable makes a table with one key, a string.
func createTable(t *testing.T, c *cluster.Cluster, table, key string) {
	t.Helper()
	_, err := c.Client().CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName:            &table,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &key, AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

const twoTables = `{
  "orders": [{"PutRequest": {"Item": {"pk": {"S": "user-001"}}}}],
  "arn:aws:dynamodb:us-east-1:123456789012:table/users": [{"DeleteRequest": {"Key": {"id": {"S": "user-002"}}}}]
}`

// What a live cluster is asked for gives the same report as when it is given.
func TestALiveClusterIsAsked(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) { o.Nodes, o.VerifySignatures = 4, true })
	createTable(t, c, "orders", "pk")
	createTable(t, c, "users", "id")
	credentials := c.ClientOptions().Credentials
	given, err := credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.ResetCounts()
	status, live, stderr := runExplain(t, "", "-request-items", twoTables, "-seeds", c.Seeds()[0],
		"-key-id", given.AccessKeyID, "-secret", given.SecretAccessKey)
	if status != explained || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	status, want, stderr := runExplain(t, "", "-request-items", twoTables, "-nodes", strings.Join(c.Seeds(), ","), "-keys", "orders=pk,users=id")
	if status != explained || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if live != want {
		t.Errorf("with the cluster's nodes and keys\n%s\nwant\n%s", live, want)
	}
	if got := c.Count(cluster.Operations); got != 2 || c.Count("DescribeTable") != 2 {
		t.Errorf("%d operations were sent, want DescribeTable for each table", got)
	}
}

// Tables whose keys are given are not asked about, and one that cannot be
// described has no vote.
func TestATableThatCannotBeDescribed(t *testing.T) {
	c := cluster.New(t)
	createTable(t, c, "orders", "pk")
	c.ResetCounts()
	status, stdout, stderr := runExplain(t, "", "-request-items", twoTables, "-seeds", c.Seeds()[0], "-keys", "orders=pk", "-json")
	if status != explained {
		t.Errorf("status %d", status)
	}
	if !strings.HasPrefix(stderr, "explain: table users: ") || !strings.Contains(stderr, "Requested resource not found: Table: users not found") {
		t.Errorf("errors %q", stderr)
	}
	for _, part := range []string{`"reason": "the partition key of the table is not known"`, `"table": "orders"`, `"count": 1`} {
		if !strings.Contains(stdout, part) {
			t.Errorf("no %s in\n%s", part, stdout)
		}
	}
	if got := c.Count("DescribeTable"); got != 1 {
		t.Errorf("%d DescribeTable were sent, want that of the unknown table", got)
	}
}

func TestTheScopeChoosesTheNodes(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) {
		o.Nodes = 4
		o.Place = func(i int) (string, string) { return "dc1", []string{"left", "right"}[i%2] }
	})
	r := decoded(t, "", "-request-items", "{}", "-seeds", c.Seeds()[0], "-scope", "rack:dc1/right")
	if want := []string{c.Node(1).URL(), c.Node(3).URL()}; !slices.Equal(r.Nodes, want) {
		t.Errorf("nodes %v, want %v", r.Nodes, want)
	}
}

func TestAClusterThatDoesNotAnswer(t *testing.T) {
	c := cluster.New(t)
	for _, n := range c.Nodes() {
		n.Refuse()
	}
	status, stdout, stderr := runExplain(t, "", "-request-items", "{}", "-seeds", strings.Join(c.Seeds(), ","))
	if status != failed || stdout != "" || !strings.HasPrefix(stderr, "explain: asking for the live nodes: ") || !strings.Contains(stderr, "refused") {
		t.Errorf("status %d, output %q, errors %q", status, stdout, stderr)
	}
	status, _, stderr = runExplain(t, "", "-request-items", "{}", "-seeds", c.Seeds()[0]+"/path")
	if status != failed || !strings.Contains(stderr, "must be scheme://host[:port] and nothing else") {
		t.Errorf("a seed that is none: status %d, errors %q", status, stderr)
	}
}
