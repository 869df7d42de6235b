package integration

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// Operations on tables have no affinity in any mode.
func TestDecisionsOfTableOperations(t *testing.T) {
	table := aws.String("made")
	operations := []struct {
		name string
		call func(context.Context, *dynamodb.Client) (smithymiddleware.Metadata, error)
	}{
		{"CreateTable", func(ctx context.Context, client *dynamodb.Client) (smithymiddleware.Metadata, error) {
			out, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
				TableName: table, BillingMode: types.BillingModePayPerRequest,
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
				KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
			})
			return metadataOf(out, err)
		}},
		{"DescribeTable", func(ctx context.Context, client *dynamodb.Client) (smithymiddleware.Metadata, error) {
			return metadataOf(client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: table}))
		}},
		{"UpdateTable", func(ctx context.Context, client *dynamodb.Client) (smithymiddleware.Metadata, error) {
			return metadataOf(client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: table, BillingMode: types.BillingModePayPerRequest}))
		}},
		{"ListTables", func(ctx context.Context, client *dynamodb.Client) (smithymiddleware.Metadata, error) {
			return metadataOf(client.ListTables(ctx, &dynamodb.ListTablesInput{}))
		}},
		{"DeleteTable", func(ctx context.Context, client *dynamodb.Client) (smithymiddleware.Metadata, error) {
			return metadataOf(client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: table}))
		}},
	}
	c := cluster.New(t, nodes(3))
	for _, m := range []middleware.Mode{middleware.None, middleware.RMW, middleware.AnyWrite} {
		client := attach(t, c, newPlugin(t, c, mode(m), keys("made", "pk")))
		for _, operation := range operations {
			metadata, err := operation.call(deadline(t), client)
			if err != nil {
				t.Fatalf("%s: %v", operation.name, err)
			}
			d := decision(t, metadata)
			if d.Reason != middleware.ReasonOperation || d.Mode != m || d.Votes != nil {
				t.Errorf("%s in mode %v: %v in mode %v with the votes %v", operation.name, m, d.Reason, d.Mode, d.Votes)
			}
			if len(d.Tried) != 1 || d.Coordinator != d.Tried[0] || d.Preferred != d.Coordinator {
				t.Errorf("%s in mode %v: %+v, want one node tried", operation.name, m, d)
			}
		}
	}
}

// Transactions and PartiQL are unknown to Alternator. Their errors are the
// server's, and come from any node.
func TestDecisionsOfUnknownOperations(t *testing.T) {
	table, key := aws.String("orders"), item{"pk": str("a")}
	statement := aws.String(`DELETE FROM "orders" WHERE pk = 'a'`)
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	bare := c.Client()
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	client := attach(t, c, p)
	for name, call := range map[string]func(*dynamodb.Client) error{
		"TransactWriteItems": func(client *dynamodb.Client) error {
			_, err := client.TransactWriteItems(deadline(t), &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: table, Item: key}}}})
			return err
		},
		"TransactGetItems": func(client *dynamodb.Client) error {
			_, err := client.TransactGetItems(deadline(t), &dynamodb.TransactGetItemsInput{
				TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: table, Key: key}}}})
			return err
		},
		"ExecuteStatement": func(client *dynamodb.Client) error {
			_, err := client.ExecuteStatement(deadline(t), &dynamodb.ExecuteStatementInput{Statement: statement})
			return err
		},
		"BatchExecuteStatement": func(client *dynamodb.Client) error {
			_, err := client.BatchExecuteStatement(deadline(t), &dynamodb.BatchExecuteStatementInput{
				Statements: []types.BatchStatementRequest{{Statement: statement}}})
			return err
		},
		"ExecuteTransaction": func(client *dynamodb.Client) error {
			_, err := client.ExecuteTransaction(deadline(t), &dynamodb.ExecuteTransactionInput{
				TransactStatements: []types.ParameterizedStatement{{Statement: statement}}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := wayOfFailing(t, func() error { return call(bare) })
			c.ResetCounts()
			before := p.Stats().Requests[middleware.ReasonOperation]
			for range spreadCalls {
				err := call(client)
				if got := wayOfFailing(t, func() error { return err }); got != want {
					t.Fatalf("it failed with %s, without the plugin with %s", got, want)
				}
				if code := apiError(t, err).ErrorCode(); code != "UnknownOperationException" {
					t.Fatalf("the error is %s, want that of an unknown operation", code)
				}
				if e := coordinatorError(t, err); e.Attempt != 1 {
					t.Fatalf("the error is of attempt %d, want the first", e.Attempt)
				}
			}
			if got := p.Stats().Requests[middleware.ReasonOperation] - before; got != spreadCalls {
				t.Errorf("%d requests were %v, want %d", got, middleware.ReasonOperation, spreadCalls)
			}
			checkSpread(t, c, name)
		})
	}
}

// A plugin that was closed before it had any node leaves requests to the
// client's own endpoint.
func TestADecisionWithoutNodes(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"), func(o *middleware.Options) { o.Seeds = nil })
	client := c.Client(p.Attach)
	closePlugin(t, p)
	for _, write := range append(singleWrites, batchOne) {
		c.ResetCounts()
		d := write.write(t, client, "orders", item{"pk": newVoter(t, c).key(2)})
		if d.Reason != middleware.ReasonNoNodes || d.Coordinator != "" || d.Preferred != "" || d.Tried != nil || d.Votes != nil {
			t.Errorf("%s: %+v, want nothing but %v", write.operation, d, middleware.ReasonNoNodes)
		}
		if c.Node(0).Count(write.operation) != 1 {
			t.Errorf("%s did not reach the client's own endpoint", write.operation)
		}
	}
	if nodes := p.Nodes(); nodes != nil {
		t.Errorf("the plugin has the nodes %v", nodes)
	}
}

func TestThereIsNoDecisionWithoutThePlugin(t *testing.T) {
	c := cluster.New(t, nodes(1))
	createTable(t, c, "orders", "pk", "S")
	off := newPlugin(t, c, mode(middleware.AnyWrite), disabled)
	for name, client := range map[string]*dynamodb.Client{"bare": c.Client(), "disabled": c.Client(off.Attach)} {
		metadata, err := putOne.call(deadline(t), client, "orders", item{"pk": str("a")})
		if err != nil {
			t.Fatal(err)
		}
		d, ok := middleware.DecisionOf(metadata)
		if ok || d.Reason != middleware.ReasonDisabled || d.Coordinator != "" || d.Preferred != "" || d.Tried != nil {
			t.Errorf("%s: %+v, %t, want none", name, d, ok)
		}
	}
	if d, ok := middleware.DecisionOf(smithymiddleware.Metadata{}); ok || d.Reason != middleware.ReasonDisabled {
		t.Errorf("of no metadata: %+v, %t", d, ok)
	}
}
