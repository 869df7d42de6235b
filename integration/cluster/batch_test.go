package cluster_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
)

func putRequest(i item) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: i}}
}

func deleteRequest(key item) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}}
}

func batch(client *dynamodb.Client, t *testing.T, writes ...types.WriteRequest) (*dynamodb.BatchWriteItemOutput, error) {
	return client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"orders": writes},
	})
}

func puts(n int) []types.WriteRequest {
	var writes []types.WriteRequest
	for i := range n {
		writes = append(writes, putRequest(item{"p": text(strconv.Itoa(i))}))
	}
	return writes
}

func count(t *testing.T, client *dynamodb.Client) int {
	t.Helper()
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	return int(out.Count)
}

func TestBatchOfAHundredWrites(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, false)
	_, err := batch(client, t, puts(101)...)
	wantAPIError(t, err, "ValidationException", "got 101 items, maximum is 100", 400)
	equal(t, "items of a refused batch", count(t, client), 0)

	out, err := batch(client, t, puts(100)...)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "items", count(t, client), 100)
	if out.UnprocessedItems == nil || len(out.UnprocessedItems) > 0 {
		t.Errorf("unprocessed items are %v", out.UnprocessedItems)
	}

	writes := puts(50)
	for i := range writes {
		writes[i] = deleteRequest(writes[i].PutRequest.Item)
	}
	if _, err := batch(client, t, writes...); err != nil {
		t.Fatal(err)
	}
	equal(t, "items after 50 were deleted", count(t, client), 50)
}

func TestBatchLimitIsAnOption(t *testing.T) {
	client := cluster.New(t, func(o *cluster.Options) { o.MaxBatchWrites = 2 }).Client(once)
	createOrders(t, client, false)
	_, err := batch(client, t, puts(3)...)
	wantAPIError(t, err, "ValidationException", "got 3 items, maximum is 2", 400)
	if _, err := batch(client, t, puts(2)...); err != nil {
		t.Error(err)
	}
}

func TestBatchLimitIsForAllTablesTogether(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) { o.MaxBatchWrites = 3 })
	client := c.Client(once)
	createOrders(t, client, false)
	_, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"orders": puts(2), "others": puts(2)},
	})
	wantAPIError(t, err, "ValidationException", "got 4 items, maximum is 3", 400)
}

func TestRefusedBatchWritesNothing(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, false)
	good := putRequest(item{"p": text("good")})
	for message, bad := range map[string]types.WriteRequest{
		"Missing the key p":                    putRequest(item{"q": text("a")}),
		"Type mismatch for key p, expected: S": putRequest(item{"p": number("1")}),
		"does not match the schema":            deleteRequest(item{"p": text("a"), "s": text("b")}),
		"contains duplicates":                  deleteRequest(item{"p": text("good")}),
		"must be either":                       {},
	} {
		_, err := batch(client, t, good, bad)
		wantAPIError(t, err, "ValidationException", message, 400)
	}
	_, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"orders": {good}, "others": {good}},
	})
	wantAPIError(t, err, "ResourceNotFoundException", "Requested resource not found: Table: others not found", 400)
	_, err = client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"orders": {good}, ordersARN: {good}},
	})
	wantAPIError(t, err, "ValidationException", "contains duplicates", 400)
	equal(t, "items", count(t, client), 0)
}

// TestDuplicatesAreOfTheWholeKey has keys that differ in one part only, or
// look alike once their parts are joined.
func TestDuplicatesAreOfTheWholeKey(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, true)
	_, err := batch(client, t,
		putRequest(item{"p": text("a"), "s": text("b"), "payload": text("1")}),
		putRequest(item{"p": text("a"), "s": text("b"), "payload": text("2")}),
	)
	wantAPIError(t, err, "ValidationException", "contains duplicates", 400)
	_, err = batch(client, t,
		putRequest(item{"p": text("a"), "s": text("b")}),
		putRequest(item{"p": text("a"), "s": text("c")}),
		putRequest(item{"p": text("b"), "s": text("b")}),
		putRequest(item{"p": text("a\x00"), "s": text("c")}),
		putRequest(item{"p": text("a"), "s": text("\x00c")}),
	)
	if err != nil {
		t.Error(err)
	}
}

func TestNumberKeysAreNotNormalised(t *testing.T) {
	client := cluster.New(t).Client(once)
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String("orders"),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("p"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("p"), AttributeType: "N"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := batch(client, t, putRequest(item{"p": number("1000")}), putRequest(item{"p": number("1e3")})); err != nil {
		t.Fatal(err)
	}
	equal(t, "items", count(t, client), 2)
}

func TestBatchGetItem(t *testing.T) {
	c := cluster.New(t)
	client := c.Client(once)
	createOrders(t, client, false)
	if _, err := batch(client, t, puts(3)...); err != nil {
		t.Fatal(err)
	}
	out, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"orders": {Keys: []map[string]types.AttributeValue{
			{"p": text("0")}, {"p": text("2")}, {"p": text("none")},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "items", len(out.Responses["orders"]), 2)
	if out.UnprocessedKeys == nil || len(out.UnprocessedKeys) > 0 {
		t.Errorf("unprocessed keys are %v", out.UnprocessedKeys)
	}
	keys := strings.Repeat(`{"p":{"S":"a"}},`, 100) + `{"p":{"S":"a"}}`
	status, answer := post(t, c, "BatchGetItem", `{"RequestItems":{"orders":{"Keys":[`+keys+`]}}}`)
	equal(t, "status of 101 keys", status, 400)
	if !strings.Contains(answer, "101, maximum is 100") {
		t.Errorf("answer is %s", answer)
	}
}

func TestUnprocessedItemsAreOnTheWire(t *testing.T) {
	c := cluster.New(t)
	createOrders(t, c.Client(), false)
	status, answer := post(t, c, "BatchWriteItem",
		`{"RequestItems":{"orders":[{"PutRequest":{"Item":{"p":{"S":"a"}}}}]}}`)
	equal(t, "status", status, 200)
	equal(t, "answer", answer, `{"UnprocessedItems":{}}`)
	status, _ = post(t, c, "BatchWriteItem", `{"RequestItems":{}}`)
	equal(t, "status of an empty batch", status, 400)
}
