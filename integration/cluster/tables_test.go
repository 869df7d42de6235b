package cluster_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
)

const ordersARN = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"

func describe(t *testing.T, client *dynamodb.Client, table string) *types.TableDescription {
	t.Helper()
	out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(table)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Table
}

func TestCreatedTableIsActiveAtOnce(t *testing.T) {
	c := cluster.New(t)
	client := c.Client(once)
	created := createOrders(t, client, true)
	equal(t, "status", created.TableStatus, types.TableStatusActive)

	described := describe(t, client, "orders")
	equal(t, "status", described.TableStatus, types.TableStatusActive)
	equal(t, "id", aws.ToString(described.TableId), aws.ToString(created.TableId))
	equal(t, "name", aws.ToString(described.TableName), "orders")
	equal(t, "billing mode", described.BillingModeSummary.BillingMode, types.BillingModePayPerRequest)
	equal(t, "attribute definitions", len(described.AttributeDefinitions), 2)
	// HASH comes first, although the request named RANGE first.
	equal(t, "key attributes", len(described.KeySchema), 2)
	equal(t, "first key", aws.ToString(described.KeySchema[0].AttributeName), "p")
	equal(t, "first kind", described.KeySchema[0].KeyType, types.KeyTypeHash)
	equal(t, "second key", aws.ToString(described.KeySchema[1].AttributeName), "s")
	equal(t, "second kind", described.KeySchema[1].KeyType, types.KeyTypeRange)

	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String("orders"),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            described.KeySchema,
		AttributeDefinitions: described.AttributeDefinitions,
	})
	wantAPIError(t, err, "ResourceInUseException", "orders", 400)
}

func TestTableNamesAreChecked(t *testing.T) {
	client := cluster.New(t).Client(once)
	for _, name := range []string{"ab", "a table", ".scylla.alternator.mine.mine"} {
		_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName:            aws.String(name),
			BillingMode:          types.BillingModePayPerRequest,
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("p"), KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("p"), AttributeType: "S"}},
		})
		wantAPIError(t, err, "ValidationException", "", 400)
	}
}

func TestDeletedTableIsGoneAtOnce(t *testing.T) {
	c := cluster.New(t)
	client := c.Client(once)
	first := createOrders(t, client, false)
	if err := put(t.Context(), client, "a"); err != nil {
		t.Fatal(err)
	}
	out, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "status", out.TableDescription.TableStatus, types.TableStatusDeleting)
	equal(t, "key attributes", len(out.TableDescription.KeySchema), 0)
	wantAPIError(t, put(t.Context(), client, "a"), "ResourceNotFoundException",
		"Requested resource not found: Table: orders not found", 400)
	_, err = client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("orders")})
	wantAPIError(t, err, "ResourceNotFoundException", "Table: orders not found", 400)

	second := createOrders(t, client, true)
	if aws.ToString(first.TableId) == aws.ToString(second.TableId) {
		t.Error("a table that was made again has its old TableId")
	}
}

func TestListTables(t *testing.T) {
	client := cluster.New(t).Client(once)
	for _, name := range []string{"ccc", "aaa", "bbb"} {
		_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName:            aws.String(name),
			BillingMode:          types.BillingModePayPerRequest,
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("p"), KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("p"), AttributeType: "N"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var pages [][]string
	p := dynamodb.NewListTablesPaginator(client, &dynamodb.ListTablesInput{Limit: aws.Int32(2)})
	for p.HasMorePages() {
		out, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, out.TableNames)
	}
	if len(pages) != 2 || !slices.Equal(slices.Concat(pages...), []string{"aaa", "bbb", "ccc"}) {
		t.Errorf("tables are %v", pages)
	}
	_, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{Limit: aws.Int32(101)})
	wantAPIError(t, err, "ValidationException", "Limit", 400)
}

func TestUpdateTableAddsAnIndex(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, false)
	query := &dynamodb.QueryInput{
		TableName:                 aws.String("orders"),
		IndexName:                 aws.String("by-customer"),
		KeyConditionExpression:    aws.String("customer = :c"),
		ExpressionAttributeValues: item{":c": text("ada")},
	}
	_, err := client.Query(t.Context(), query)
	wantAPIError(t, err, "ValidationException", "by-customer", 400)

	key := []types.KeySchemaElement{{AttributeName: aws.String("customer"), KeyType: types.KeyTypeHash}}
	out, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName:            aws.String("orders"),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("customer"), AttributeType: "S"}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{
			Create: &types.CreateGlobalSecondaryIndexAction{
				IndexName: aws.String("by-customer"), KeySchema: key,
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "indexes", len(out.TableDescription.GlobalSecondaryIndexes), 1)
	equal(t, "attribute definitions", len(out.TableDescription.AttributeDefinitions), 2)
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("orders"), Item: item{"p": text("a"), "customer": text("ada")},
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := client.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "items found", found.Count, 1)
}

func TestARNStandsForTheTable(t *testing.T) {
	client := cluster.New(t).Client(once)
	created := createOrders(t, client, false)
	equal(t, "id", aws.ToString(describe(t, client, ordersARN).TableId), aws.ToString(created.TableId))
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(ordersARN), Item: item{"p": text("a")},
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "item written by ARN is there", has(t, client, "a"), true)
	_, err = client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{
			ordersARN: {{PutRequest: &types.PutRequest{Item: item{"p": text("b")}}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{ordersARN: {Keys: []map[string]types.AttributeValue{
			{"p": text("a")}, {"p": text("b")}, {"p": text("c")},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "items read by ARN", len(out.Responses[ordersARN]), 2)
	_, err = client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{
		TableName: aws.String("arn:aws:dynamodb:us-east-1:000000000000:table/none"),
	})
	wantAPIError(t, err, "ResourceNotFoundException", "Table: none not found", 400)
}
