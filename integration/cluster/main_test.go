package cluster_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"go.uber.org/goleak"

	"github.com/keyroute/keyroute/integration/cluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bound is how long anything may take at most.
const bound = 30 * time.Second

func boundedContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	t.Cleanup(cancel)
	return ctx
}

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// textOf is the string in an attribute, or what is there instead.
func textOf(v types.AttributeValue) any {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return v
}

// once makes a client try everything once.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// to makes a client talk to a node.
func to(n *cluster.Node) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(n.URL()) }
}

// createOrders creates the table "orders" with the key p and, if ranged, s.
func createOrders(t testing.TB, client *dynamodb.Client, ranged bool) *types.TableDescription {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName:            aws.String("orders"),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("p"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("p"), AttributeType: "S"}},
	}
	if ranged {
		in.KeySchema = append([]types.KeySchemaElement{
			{AttributeName: aws.String("s"), KeyType: types.KeyTypeRange}}, in.KeySchema...)
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String("s"), AttributeType: "S"})
	}
	out, err := client.CreateTable(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out.TableDescription
}

func put(ctx context.Context, client *dynamodb.Client, key string, optFns ...func(*dynamodb.Options)) error {
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("orders"), Item: item{"p": text(key)},
	}, optFns...)
	return err
}

// has says whether the table "orders" has an item with a key.
func has(t *testing.T, client *dynamodb.Client, key string) bool {
	t.Helper()
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("orders"), Key: item{"p": text(key)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Item) > 0
}

// wantAPIError checks the type, the message and the HTTP status of an error.
func wantAPIError(t *testing.T, err error, code, message string, status int) {
	t.Helper()
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		t.Fatalf("error is %v, want %s", err, code)
	}
	if api.ErrorCode() != code || !strings.Contains(api.ErrorMessage(), message) {
		t.Errorf("error is %s: %q, want %s: %q", api.ErrorCode(), api.ErrorMessage(), code, message)
	}
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); !ok || response.HTTPStatusCode() != status {
		t.Errorf("error %v does not come with status %d", err, status)
	}
}

// get makes a GET request and returns the answer and its body.
func get(t *testing.T, c *cluster.Cluster, url string) (*http.Response, string) {
	t.Helper()
	r, err := c.HTTPClient().Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(body)
}

func heal(t *testing.T, n *cluster.Node) {
	t.Helper()
	if err := n.Heal(); err != nil {
		t.Fatal(err)
	}
}

// await waits until a node has received a number of requests.
func await(t *testing.T, n *cluster.Node, operation string, count int) {
	t.Helper()
	if err := n.AwaitCount(boundedContext(t), operation, count); err != nil {
		t.Fatalf("node %d did not receive %d %s: %v", n.Index(), count, operation, err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
