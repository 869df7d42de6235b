package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

const table = "orders"

// perform makes the calls on a cluster, and then has them looked at while the
// plugin still runs: when it is closed, what it has counted is not observed any
// more.
func perform(ctx context.Context, observed func(*dynamodb.Options), look func() error) (err error) {
	c, err := cluster.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	plugin, err := middleware.New(func(o *middleware.Options) {
		o.Mode = middleware.AnyWrite
		o.Seeds = c.Seeds()
		o.Health.ActiveFailures = 1      // for a run so short to take a node down
		o.RefreshInterval = 2 * patience // for its length not to matter
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plugin.Close(ctx)) }()

	if err := createTable(ctx, c.Client()); err != nil {
		return err
	}
	connections := c.HTTPClient()
	client := c.Client(observed, func(o *dynamodb.Options) { o.HTTPClient = connections }, plugin.Attach)
	if err := plugin.Refresh(ctx); err != nil {
		return err
	}
	if err := writeAndRead(ctx, client, plugin); err != nil {
		return err
	}
	if err := writeToADeadNode(ctx, client, c, connections); err != nil {
		return err
	}
	// The plugin refreshes when it starts, when it is told to and after a fault.
	if err := until(ctx, func() bool { return plugin.Stats().Refreshes.Refreshes >= 3 }); err != nil {
		return fmt.Errorf("waiting for the list of nodes to be refreshed after a fault: %w", err)
	}
	return look()
}

// createTable does so through a client of its own, so that the plugin has to
// learn of the table.
func createTable(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            aws.String(table),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	return err
}

// writeAndRead makes a write whose table is not known yet, five more, three
// batches and a read.
func writeAndRead(ctx context.Context, client *dynamodb.Client, plugin *middleware.Plugin) error {
	for i := range 6 {
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: order(i)}); err != nil {
			return err
		}
		if err := until(ctx, func() bool { return plugin.Stats().Schemas.Lookups == 1 }); err != nil {
			return fmt.Errorf("waiting for the table to be looked up: %w", err)
		}
	}
	for i := range 3 {
		if _, err := client.BatchWriteItem(ctx, batch(10*i)); err != nil {
			return err
		}
	}
	_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: order(0)})
	return err
}

// writeToADeadNode makes a batch once more after the node that coordinated it
// has died.
func writeToADeadNode(ctx context.Context, client *dynamodb.Client, c *cluster.Cluster, connections *http.Client) error {
	in := batch(0)
	out, err := client.BatchWriteItem(ctx, in)
	if err != nil {
		return err
	}
	decision, _ := middleware.DecisionOf(out.ResultMetadata)
	c.NodeAt(decision.Coordinator).Refuse()
	connections.CloseIdleConnections() // or the first sign of death may be a broken one
	_, err = client.BatchWriteItem(ctx, in)
	return err
}

func order(i int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: fmt.Sprint("order-", i)}}
}

// batch is a batch of five orders.
func batch(first int) *dynamodb.BatchWriteItemInput {
	var writes []types.WriteRequest
	for i := range 5 {
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: order(first + i)}})
	}
	return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}}
}

// until waits for something that happens in the background.
func until(ctx context.Context, happened func() bool) error {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for !happened() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
