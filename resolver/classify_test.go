package resolver_test

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

// checkReadsFirst checks whether inputs of the same operation count as
// read-modify-write.
func checkReadsFirst[Input any](t *testing.T, want bool, inputs map[string]*Input) {
	t.Helper()
	for name, input := range inputs {
		write, ok := resolver.SingleWriteOf(input)
		if !ok {
			t.Errorf("%T with %s is not a write", input, name)
		}
		if write.ReadsFirst != want {
			t.Errorf("%T with %s reads first: %t, want %t", input, name, write.ReadsFirst, want)
		}
	}
}

var expected = map[string]types.ExpectedAttributeValue{"v": {Exists: aws.Bool(false)}}

func TestPutItemReadsFirst(t *testing.T) {
	checkReadsFirst(t, true, map[string]*dynamodb.PutItemInput{
		"a condition": {ConditionExpression: aws.String("attribute_not_exists(v)")},
		"Expected":    {Expected: expected},
		"ALL_OLD":     {ReturnValues: types.ReturnValueAllOld},
		"UPDATED_OLD": {ReturnValues: types.ReturnValueUpdatedOld},
		"ALL_NEW":     {ReturnValues: types.ReturnValueAllNew},
		"UPDATED_NEW": {ReturnValues: types.ReturnValueUpdatedNew},
	})
	checkReadsFirst(t, false, map[string]*dynamodb.PutItemInput{
		"nothing":            {},
		"an empty condition": {ConditionExpression: aws.String("")},
		"an empty Expected":  {Expected: map[string]types.ExpectedAttributeValue{}},
		"NONE":               {ReturnValues: types.ReturnValueNone},
		"capacity": {
			ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal,
			ReturnItemCollectionMetrics:         types.ReturnItemCollectionMetricsSize,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		},
	})
}

func TestDeleteItemReadsFirst(t *testing.T) {
	checkReadsFirst(t, true, map[string]*dynamodb.DeleteItemInput{
		"a condition": {ConditionExpression: aws.String("v = :v")},
		"Expected":    {Expected: expected},
		"ALL_OLD":     {ReturnValues: types.ReturnValueAllOld},
		"UPDATED_NEW": {ReturnValues: types.ReturnValueUpdatedNew},
	})
	checkReadsFirst(t, false, map[string]*dynamodb.DeleteItemInput{
		"nothing":            {},
		"an empty condition": {ConditionExpression: aws.String("")},
		"an empty Expected":  {Expected: map[string]types.ExpectedAttributeValue{}},
		"NONE":               {ReturnValues: types.ReturnValueNone},
	})
}

func TestUpdateItemReadsFirst(t *testing.T) {
	update := func(action types.AttributeAction, value types.AttributeValue) *dynamodb.UpdateItemInput {
		return &dynamodb.UpdateItemInput{AttributeUpdates: map[string]types.AttributeValueUpdate{
			"a": {Action: types.AttributeActionPut, Value: text("x")},
			"v": {Action: action, Value: value},
		}}
	}
	checkReadsFirst(t, true, map[string]*dynamodb.UpdateItemInput{
		"an update expression": {UpdateExpression: aws.String("SET v = :v")},
		"a condition":          {ConditionExpression: aws.String("v = :v")},
		"Expected":             {Expected: expected},
		"ALL_OLD":              {ReturnValues: types.ReturnValueAllOld},
		"UPDATED_OLD":          {ReturnValues: types.ReturnValueUpdatedOld},
		"ALL_NEW":              {ReturnValues: types.ReturnValueAllNew},
		"ADD":                  update(types.AttributeActionAdd, number("1")),
		"DELETE of a value":    update(types.AttributeActionDelete, &types.AttributeValueMemberSS{Value: []string{"a"}}),
	})
	checkReadsFirst(t, false, map[string]*dynamodb.UpdateItemInput{
		"nothing":                    {},
		"an empty update expression": {UpdateExpression: aws.String("")},
		"an empty condition":         {ConditionExpression: aws.String("")},
		"an empty Expected":          {Expected: map[string]types.ExpectedAttributeValue{}},
		"NONE":                       {ReturnValues: types.ReturnValueNone},
		"UPDATED_NEW":                {ReturnValues: types.ReturnValueUpdatedNew},
		"PUT":                        update(types.AttributeActionPut, number("1")),
		"an update without action":   update("", number("1")),
		"DELETE of the attribute":    update(types.AttributeActionDelete, nil),
	})
}

func TestSingleWriteHasTheTableAndTheKey(t *testing.T) {
	table, key := aws.String("users"), attributes{"id": text("a")}
	want := resolver.SingleWrite{Table: "users", Attributes: key}
	for _, input := range []any{
		&dynamodb.PutItemInput{TableName: table, Item: key},
		&dynamodb.DeleteItemInput{TableName: table, Key: key},
		&dynamodb.UpdateItemInput{TableName: table, Key: key},
	} {
		if got, ok := resolver.SingleWriteOf(input); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%T: %+v, %t, want %+v", input, got, ok, want)
		}
	}
	for _, input := range []any{&dynamodb.PutItemInput{}, &dynamodb.DeleteItemInput{}, &dynamodb.UpdateItemInput{}} {
		if got, ok := resolver.SingleWriteOf(input); !ok || got.Table != "" || got.Attributes != nil {
			t.Errorf("empty %T: %+v, %t", input, got, ok)
		}
	}
}

func TestOtherInputsAreNotSingleWrites(t *testing.T) {
	for _, input := range []any{
		nil,
		(*dynamodb.PutItemInput)(nil),
		(*dynamodb.DeleteItemInput)(nil),
		(*dynamodb.UpdateItemInput)(nil),
		dynamodb.PutItemInput{},
		&dynamodb.GetItemInput{},
		&dynamodb.QueryInput{},
		&dynamodb.ScanInput{},
		&dynamodb.BatchGetItemInput{},
		&dynamodb.BatchWriteItemInput{},
		&dynamodb.TransactWriteItemsInput{},
		&dynamodb.DescribeTableInput{},
		&dynamodb.ExecuteStatementInput{},
		"PutItem",
	} {
		if write, ok := resolver.SingleWriteOf(input); ok || !reflect.DeepEqual(write, resolver.SingleWrite{}) {
			t.Errorf("%T: %+v, %t, want no write", input, write, ok)
		}
	}
}

func TestTableName(t *testing.T) {
	for given, want := range map[string]string{
		"users": "users",
		"":      "",
		"arn:aws:dynamodb:us-east-1:123456789012:table/users":            "users",
		"arn:aws-cn:dynamodb:cn-north-1:123456789012:table/a.b-c_d":      "a.b-c_d",
		"arn:aws:dynamodb:us-east-1:123456789012:table/users/index/by-x": "users",
		"arn:aws:s3:::bucket": "arn:aws:s3:::bucket",
		"a:table/users":       "a:table/users",
	} {
		if got := resolver.TableName(given); got != want {
			t.Errorf("%q is %q, want %q", given, got, want)
		}
	}
}
