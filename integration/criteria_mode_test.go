package integration

import (
	"context"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// spreadCalls is how many calls are spread over 3 nodes before one that got
// none is a failure: the probability of that is below 1 in 10^9.
const spreadCalls = 60

func TestCriterion14NoneAndRMWNeverRouteABatch(t *testing.T) {
	for _, m := range []middleware.Mode{middleware.None, middleware.RMW} {
		t.Run(m.String(), func(t *testing.T) {
			c := cluster.New(t, nodes(3))
			createTable(t, c, "orders", "pk", "S")
			client := attach(t, c, newPlugin(t, c, mode(m), keys("orders", "pk")))
			in := batch(writes{"orders": newVoter(t, c).puts(1, 1, 1)})
			for range spreadCalls {
				d := send(t, client, in)
				if d.Reason != middleware.ReasonMode || d.Votes != nil || d.Mode != m {
					t.Fatalf("routed with the reason %v, the votes %v, the mode %v", d.Reason, d.Votes, d.Mode)
				}
			}
			checkSpread(t, c, "BatchWriteItem")
			if got := c.Count("DescribeTable"); got != 0 {
				t.Errorf("%d DescribeTable were sent, want none", got)
			}
		})
	}
}

func TestCriterion14OtherOperationsAreUnchanged(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	bare := c.Client()
	key := item{"pk": newVoter(t, c).key(1)}
	if _, err := bare.PutItem(deadline(t), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: key}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []middleware.Mode{middleware.None, middleware.RMW, middleware.AnyWrite} {
		client := attach(t, c, newPlugin(t, c, mode(m), keys("orders", "pk")))
		for _, operation := range readOperations(key) {
			t.Run(m.String()+" "+operation.name, func(t *testing.T) {
				want, _, err := operation.call(deadline(t), bare)
				if err != nil {
					t.Fatal(err)
				}
				c.ResetCounts()
				for range spreadCalls {
					got, metadata, err := operation.call(deadline(t), client)
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("answered %v, without the plugin %v", got, want)
					}
					if d := decision(t, metadata); d.Reason != middleware.ReasonOperation || d.Votes != nil {
						t.Fatalf("routed with the reason %v and the votes %v", d.Reason, d.Votes)
					}
				}
				if got := c.Count(operation.name); got != spreadCalls {
					t.Errorf("%d calls made %d requests", spreadCalls, got)
				}
				checkSpread(t, c, operation.name)
			})
		}
	}
}

type readOperation struct {
	name string
	call func(context.Context, *dynamodb.Client) (result any, metadata smithymiddleware.Metadata, err error)
}

// readOperations are operations that have no affinity in any mode. Their
// results are those parts of the answers that are the same each time.
func readOperations(key item) []readOperation {
	table := aws.String("orders")
	return []readOperation{
		{"GetItem", func(ctx context.Context, client *dynamodb.Client) (any, smithymiddleware.Metadata, error) {
			out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key})
			if err != nil {
				return nil, smithymiddleware.Metadata{}, err
			}
			return out.Item, out.ResultMetadata, nil
		}},
		{"BatchGetItem", func(ctx context.Context, client *dynamodb.Client) (any, smithymiddleware.Metadata, error) {
			out, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{"orders": {Keys: []map[string]types.AttributeValue{key}}},
			})
			if err != nil {
				return nil, smithymiddleware.Metadata{}, err
			}
			return out.Responses, out.ResultMetadata, nil
		}},
		{"Query", func(ctx context.Context, client *dynamodb.Client) (any, smithymiddleware.Metadata, error) {
			out, err := client.Query(ctx, &dynamodb.QueryInput{
				TableName:                 table,
				KeyConditionExpression:    aws.String("pk = :pk"),
				ExpressionAttributeValues: item{":pk": key["pk"]},
			})
			if err != nil {
				return nil, smithymiddleware.Metadata{}, err
			}
			return out.Items, out.ResultMetadata, nil
		}},
		{"Scan", func(ctx context.Context, client *dynamodb.Client) (any, smithymiddleware.Metadata, error) {
			out, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: table})
			if err != nil {
				return nil, smithymiddleware.Metadata{}, err
			}
			return out.Items, out.ResultMetadata, nil
		}},
		{"ListTables", func(ctx context.Context, client *dynamodb.Client) (any, smithymiddleware.Metadata, error) {
			out, err := client.ListTables(ctx, &dynamodb.ListTablesInput{})
			if err != nil {
				return nil, smithymiddleware.Metadata{}, err
			}
			return out.TableNames, out.ResultMetadata, nil
		}},
		{"DescribeTable", func(ctx context.Context, client *dynamodb.Client) (any, smithymiddleware.Metadata, error) {
			out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: table})
			if err != nil {
				return nil, smithymiddleware.Metadata{}, err
			}
			return out.Table, out.ResultMetadata, nil
		}},
	}
}

func TestSetModeCountsFromTheNextCall(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, keys("orders", "pk"))
	client := attach(t, c, p)
	in := batch(writes{"orders": newVoter(t, c).puts(2)})

	for _, step := range []struct {
		mode   middleware.Mode
		reason middleware.Reason
	}{
		{middleware.None, middleware.ReasonMode}, // the zero value
		{middleware.AnyWrite, middleware.ReasonVoted},
		{middleware.RMW, middleware.ReasonMode},
		{middleware.AnyWrite, middleware.ReasonVoted},
	} {
		if p.Mode() != step.mode {
			if err := p.SetMode(step.mode); err != nil {
				t.Fatal(err)
			}
		}
		if d := send(t, client, in); d.Reason != step.reason || d.Mode != step.mode {
			t.Errorf("mode %v: routed with the reason %v in the mode %v", step.mode, d.Reason, d.Mode)
		}
	}

	if err := p.SetMode(middleware.AnyWrite + 1); err == nil {
		t.Error("SetMode took what is no mode")
	}
	if d := send(t, client, in); d.Reason != middleware.ReasonVoted {
		t.Errorf("after a refused SetMode the reason is %v, want %v", d.Reason, middleware.ReasonVoted)
	}
}
