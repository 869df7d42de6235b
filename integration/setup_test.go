package integration

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithymiddleware "github.com/aws/smithy-go/middleware"
	"go.uber.org/goleak"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// nodes is an option for a cluster of n nodes.
func nodes(n int) func(*cluster.Options) {
	return func(o *cluster.Options) { o.Nodes = n }
}

// mode is an option for a plugin.
func mode(m middleware.Mode) func(*middleware.Options) {
	return func(o *middleware.Options) { o.Mode = m }
}

// keys is an option that makes partition keys known, "table", "attribute", ...
func keys(pairs ...string) func(*middleware.Options) {
	return func(o *middleware.Options) {
		o.PartitionKeys = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			o.PartitionKeys[pairs[i]] = pairs[i+1]
		}
	}
}

// newPlugin makes a plugin whose seeds are the cluster's first node, as a user
// would give one, and closes it with the test.
func newPlugin(t testing.TB, c *cluster.Cluster, optFns ...func(*middleware.Options)) *middleware.Plugin {
	t.Helper()
	seed := func(o *middleware.Options) { o.Seeds = c.Seeds()[:1] }
	p, err := middleware.New(append([]func(*middleware.Options){seed}, optFns...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closePlugin(t, p) })
	return p
}

func closePlugin(t testing.TB, p *middleware.Plugin) {
	t.Helper()
	if err := p.Close(context.Background()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// attach makes a client of the cluster, with options of its own and then the
// plugin, which knows all nodes.
func attach(t testing.TB, c *cluster.Cluster, p *middleware.Plugin, optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	t.Helper()
	client := c.Client(slices.Concat(optFns, []func(*dynamodb.Options){p.Attach})...)
	if err := p.Refresh(t.Context()); err != nil {
		t.Fatalf("Refresh: %v", err)
	}
	return client
}

// impatient is an option for a client that makes up to n attempts, without a
// delay between them and without a limit to its retries as a whole.
func impatient(n int) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = n
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			o.RateLimiter = ratelimit.None
		})
	}
}

// createTable makes a table through a client of its own that has no plugin.
// The key is "pk" or "pk,sk" with the types of both, "S" or "SN".
func createTable(t testing.TB, c *cluster.Cluster, table, key, keyTypes string) {
	t.Helper()
	createTableWith(t, c.Client(), table, key, keyTypes)
}

func createTableWith(t testing.TB, client *dynamodb.Client, table, key, keyTypes string) {
	t.Helper()
	in := &dynamodb.CreateTableInput{TableName: &table, BillingMode: types.BillingModePayPerRequest}
	names, roles := splitKey(key), []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}
	for i, name := range names {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(name), AttributeType: types.ScalarAttributeType(keyTypes[i : i+1])})
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: roles[i]})
	}
	if _, err := client.CreateTable(context.Background(), in); err != nil {
		t.Fatalf("CreateTable %s: %v", table, err)
	}
}

func splitKey(key string) []string {
	for i := range key {
		if key[i] == ',' {
			return []string{key[:i], key[i+1:]}
		}
	}
	return []string{key}
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func num(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
func bin(b string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(b)} }

type item = map[string]types.AttributeValue

func put(i item) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: i}}
}

func del(key item) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}}
}

type writes = map[string][]types.WriteRequest

func batch(w writes) *dynamodb.BatchWriteItemInput {
	return &dynamodb.BatchWriteItemInput{RequestItems: w}
}

// ringOf is the ring that a client of the whole cluster has.
func ringOf(t testing.TB, c *cluster.Cluster) *resolver.Ring {
	t.Helper()
	var list []*resolver.Node
	for _, seed := range c.Seeds() {
		node, err := resolver.ParseNode(seed)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, node)
	}
	return resolver.NewRing(list...)
}

// preferred returns the index in the cluster of the node that a key prefers.
func preferred(t testing.TB, c *cluster.Cluster, key types.AttributeValue) int {
	t.Helper()
	hash, ok := resolver.Hash(key)
	if !ok {
		t.Fatalf("no hash of %v", key)
	}
	ring := ringOf(t, c)
	var plan resolver.Plan
	plan.PreferKey(ring, hash)
	return c.NodeAt(ring.Node(plan.At(0)).String()).Index()
}

// keyPreferring finds a string key that prefers a node of the cluster.
func keyPreferring(t testing.TB, c *cluster.Cluster, node int) types.AttributeValue {
	t.Helper()
	for i := range 10_000 {
		if key := str(fmt.Sprintf("key-%d", i)); preferred(t, c, key) == node {
			return key
		}
	}
	t.Fatalf("no key prefers node %d", node)
	return nil
}

// decision returns how a call was routed.
func decision(t testing.TB, metadata smithymiddleware.Metadata) middleware.Decision {
	t.Helper()
	d, ok := middleware.DecisionOf(metadata)
	if !ok {
		t.Fatal("the call did not pass through the plugin")
	}
	return d
}

// asked returns the nodes that received an operation, in order.
func asked(c *cluster.Cluster, operation string) []int {
	var list []int
	for _, r := range requestsOf(c, operation) {
		list = append(list, r.Node)
	}
	return list
}

// requestsOf returns the recorded requests of an operation. Among all requests
// there are those that the plugin makes in the background.
func requestsOf(c *cluster.Cluster, operation string) []cluster.Request {
	var list []cluster.Request
	for _, r := range c.Requests() {
		if r.Operation == operation {
			list = append(list, r)
		}
	}
	return list
}
