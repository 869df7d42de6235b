package cluster_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
)

func TestItemComesBackAsItWasPut(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, false)
	want := item{
		"p":      text("a"),
		"number": number("1e3"),
		"binary": &types.AttributeValueMemberB{Value: []byte{0, 0xff}},
		"bool":   &types.AttributeValueMemberBOOL{Value: false},
		"null":   &types.AttributeValueMemberNULL{Value: true},
		"empty":  text(""),
		"no bin": &types.AttributeValueMemberB{Value: []byte{}},
		"nolist": &types.AttributeValueMemberL{Value: []types.AttributeValue{}},
		"no map": &types.AttributeValueMemberM{Value: item{}},
		"list":   &types.AttributeValueMemberL{Value: []types.AttributeValue{text("<&>"), number("2")}},
		"map":    &types.AttributeValueMemberM{Value: item{"x": text("ü")}},
		"texts":  &types.AttributeValueMemberSS{Value: []string{"x", "y"}},
		"nums":   &types.AttributeValueMemberNS{Value: []string{"1", "2"}},
		"bins":   &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
	}
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: want})
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("orders"), Key: item{"p": text("a")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range want {
		if !reflect.DeepEqual(out.Item[name], value) {
			t.Errorf("%s: got %#v, want %#v", name, out.Item[name], value)
		}
	}
	equal(t, "attributes", len(out.Item), len(want))
}

func TestPutItemReturnsTheOldItemIfAskedTo(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, false)
	putVersion := func(version string, returned types.ReturnValue) item {
		out, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("orders"), ReturnValues: returned,
			Item: item{"p": text("a"), "version": text(version)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Attributes
	}
	equal(t, "attributes of the first", len(putVersion("1", types.ReturnValueAllOld)), 0)
	equal(t, "attributes of the second", textOf(putVersion("2", types.ReturnValueAllOld)["version"]), any("1"))
	equal(t, "attributes if not asked", len(putVersion("3", "")), 0)

	out, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String("orders"), Key: item{"p": text("a")}, ReturnValues: types.ReturnValueAllOld,
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "attributes of the deleted", textOf(out.Attributes["version"]), any("3"))
}

func TestFailedConditionReturnsTheItemIfAskedTo(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, false)
	if err := put(t.Context(), client, "a"); err != nil {
		t.Fatal(err)
	}
	in := &dynamodb.PutItemInput{
		TableName: aws.String("orders"), Item: item{"p": text("a")},
		ConditionExpression: aws.String("attribute_not_exists(p)"),
	}
	_, err := client.PutItem(t.Context(), in)
	wantAPIError(t, err, "ConditionalCheckFailedException", "conditional request failed", 400)
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	_, err = client.PutItem(t.Context(), in)
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		t.Fatal(err)
	}
	equal(t, "item", textOf(failed.Item["p"]), any("a"))

	_, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String("orders"), Key: item{"p": text("a")},
		ConditionExpression:                 aws.String("attribute_exists(q)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if failed, ok = errors.AsType[*types.ConditionalCheckFailedException](err); !ok {
		t.Fatal(err)
	}
	equal(t, "item", textOf(failed.Item["p"]), any("a"))
}

func TestKeysAreChecked(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, true)
	for message, key := range map[string]item{
		"Missing the key s":                    {"p": text("a")},
		"Type mismatch for key s, expected: S": {"p": text("a"), "s": number("1")},
		"empty string value. Key: p":           {"p": text(""), "s": text("b")},
	} {
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: key})
		wantAPIError(t, err, "ValidationException", message, 400)
	}
	_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("orders"), Key: item{"p": text("a")},
	})
	wantAPIError(t, err, "ValidationException", "key element does not match the schema", 400)
}

func TestEmptyQueryHasNoItems(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, false)
	out, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName:                 aws.String("orders"),
		KeyConditionExpression:    aws.String("p = :p"),
		ExpressionAttributeValues: item{":p": text("a")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.Items == nil || len(out.Items) > 0 || out.Count != 0 {
		t.Errorf("got %d items: %v", out.Count, out.Items)
	}
}

func TestScanIsPaged(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, false)
	for i := range 5 {
		if err := put(t.Context(), client, strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	p := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{
		TableName: aws.String(ordersARN), Limit: aws.Int32(2),
	})
	found := map[any]bool{}
	for p.HasMorePages() {
		out, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range out.Items {
			found[textOf(i["p"])] = true
		}
	}
	equal(t, "items", len(found), 5)
}

func TestLegacyParametersOfWrites(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, false)
	update := func(in dynamodb.UpdateItemInput) (item, error) {
		in.TableName, in.Key = aws.String("orders"), item{"p": text("a")}
		in.ReturnValues = types.ReturnValueAllNew
		out, err := client.UpdateItem(t.Context(), &in)
		if err != nil {
			return nil, err
		}
		return out.Attributes, nil
	}
	got, err := update(dynamodb.UpdateItemInput{}) // makes an item of the key alone
	if err != nil || len(got) != 1 {
		t.Fatalf("update of nothing: %v, %v", got, err)
	}
	got, err = update(dynamodb.UpdateItemInput{AttributeUpdates: map[string]types.AttributeValueUpdate{
		"state": {Value: text("open")},
		"count": {Value: number("2"), Action: types.AttributeActionAdd},
		"tags":  {Value: &types.AttributeValueMemberSS{Value: []string{"x", "y"}}, Action: types.AttributeActionAdd},
	}})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", textOf(got["state"]), any("open"))
	got, err = update(dynamodb.UpdateItemInput{
		Expected: map[string]types.ExpectedAttributeValue{
			"state": {Value: text("open")},
			"owner": {Exists: aws.Bool(false)},
			"count": {ComparisonOperator: types.ComparisonOperatorGt,
				AttributeValueList: []types.AttributeValue{number("1")}},
		},
		AttributeUpdates: map[string]types.AttributeValueUpdate{
			"state": {Action: types.AttributeActionDelete},
			"count": {Value: number("3"), Action: types.AttributeActionAdd},
			"tags":  {Value: &types.AttributeValueMemberSS{Value: []string{"y"}}, Action: types.AttributeActionDelete},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := item{"p": text("a"), "count": number("5"), "tags": &types.AttributeValueMemberSS{Value: []string{"x"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}

	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("orders"), Item: item{"p": text("a")},
		Expected: map[string]types.ExpectedAttributeValue{"count": {Value: number("6")}},
	})
	wantAPIError(t, err, "ConditionalCheckFailedException", "", 400)
	_, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String("orders"), Key: item{"p": text("a")},
		ConditionalOperator: types.ConditionalOperatorOr,
		Expected: map[string]types.ExpectedAttributeValue{
			"count": {Value: number("6")},
			"tags":  {ComparisonOperator: types.ComparisonOperatorNotNull},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "deleted item is there", has(t, client, "a"), false)
}

func TestLegacyParametersThatAreRefused(t *testing.T) {
	client := cluster.New(t).Client(once)
	createOrders(t, client, false)
	equals := types.Condition{
		ComparisonOperator: types.ComparisonOperatorEq, AttributeValueList: []types.AttributeValue{text("a")},
	}
	_, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String("orders"), KeyConditions: map[string]types.Condition{"p": equals},
	})
	wantAPIError(t, err, "ValidationException", "KeyConditions", 400)
	_, err = client.Scan(t.Context(), &dynamodb.ScanInput{
		TableName: aws.String("orders"), ScanFilter: map[string]types.Condition{"p": equals},
	})
	wantAPIError(t, err, "ValidationException", "ScanFilter", 400)
	_, err = client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("orders"), Key: item{"p": text("a")}, AttributesToGet: []string{"p"},
	})
	wantAPIError(t, err, "ValidationException", "AttributesToGet", 400)
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("orders"), Item: item{"p": text("a")},
		ConditionExpression: aws.String("attribute_exists(p)"),
		Expected:            map[string]types.ExpectedAttributeValue{"p": {Exists: aws.Bool(false)}},
	})
	wantAPIError(t, err, "ValidationException", "Can not use both expression and non-expression", 400)
}

// TestConcurrentUse is for the race detector: it has every operation meet
// every other one.
func TestConcurrentUse(t *testing.T) {
	c := cluster.New(t)
	c.Record(true)
	client := c.Client(once)
	createOrders(t, client, false)
	key := item{"p": text("a")}
	operations := []func(i int) error{
		func(i int) error { return put(t.Context(), client, strconv.Itoa(i%3)) },
		func(i int) error {
			_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: aws.String("orders"), Key: key, ReturnValues: types.ReturnValueAllNew,
				UpdateExpression:          aws.String("ADD n :one SET l = :l"),
				ExpressionAttributeValues: item{":one": number("1"), ":l": &types.AttributeValueMemberSS{Value: []string{"x"}}},
			})
			return err
		},
		func(int) error {
			_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: key})
			return err
		},
		func(int) error {
			_, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders")})
			return err
		},
		func(int) error {
			_, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
			return err
		},
		func(i int) error {
			_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
				TableName:            aws.String(fmt.Sprintf("table-%d", i)),
				BillingMode:          types.BillingModePayPerRequest,
				KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("p"), KeyType: types.KeyTypeHash}},
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("p"), AttributeType: "S"}},
			})
			return err
		},
		func(int) error { c.Requests(); return c.Node(1).Heal() },
	}
	var group sync.WaitGroup
	for _, operation := range operations {
		group.Go(func() {
			for i := range 20 {
				if err := operation(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(out.Item["n"], number("20")) {
		t.Errorf("20 additions made %v", out.Item["n"])
	}
}
