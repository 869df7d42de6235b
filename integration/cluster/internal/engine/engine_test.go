package engine

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

// engineWith returns an engine with a table "orders" of a number key p, and
// the items given as JSON.
func engineWith(t *testing.T, items ...string) *Engine {
	t.Helper()
	e := New(100)
	do(t, e, "CreateTable", `{"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
		"KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
		"AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "N"}]}`)
	for _, i := range items {
		do(t, e, "PutItem", `{"TableName": "orders", "Item": `+i+`}`)
	}
	return e
}

func do(t *testing.T, e *Engine, operation, body string) string {
	t.Helper()
	out, err := e.Do(operation, []byte(body))
	if err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
	return string(out)
}

// wantJSON compares two JSON documents, whatever the order of their members.
func wantJSON(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := errors.Join(json.Unmarshal([]byte(got), &g), json.Unmarshal([]byte(want), &w)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUpdateRemovesWholeAttributes(t *testing.T) {
	for expression, want := range map[string]string{
		`"UpdateExpression": "REMOVE x"`:                                           `{"p": {"N": "1"}, "y": {"S": "y"}}`,
		`"UpdateExpression": "REMOVE x, y"`:                                        `{"p": {"N": "1"}}`,
		`"UpdateExpression": "remove #x", "ExpressionAttributeNames": {"#x": "x"}`: `{"p": {"N": "1"}, "y": {"S": "y"}}`,
		`"UpdateExpression": "REMOVE x SET #remove = y", "ExpressionAttributeNames":
			{"#remove": "z"}`: `{"p": {"N": "1"}, "y": {"S": "y"}, "z": {"S": "y"}}`,
		`"UpdateExpression": "SET z = y REMOVE nothing,x"`: `{"p": {"N": "1"}, "y": {"S": "y"}, "z": {"S": "y"}}`,
	} {
		e := engineWith(t, `{"p": {"N": "1"}, "x": {"S": "x"}, "y": {"S": "y"}}`)
		do(t, e, "UpdateItem", `{"TableName": "orders", "Key": {"p": {"N": "1"}}, `+expression+`}`)
		wantJSON(t, do(t, e, "GetItem", `{"TableName": "orders", "Key": {"p": {"N": "1"}}}`), `{"Item": `+want+`}`)
	}
}

func TestUpdateRemovesPartsOfAttributes(t *testing.T) {
	e := engineWith(t, `{"p": {"N": "1"}, "m": {"M": {"a": {"S": "a"}, "b": {"S": "b"}}},
		"l": {"L": [{"S": "0"}, {"S": "1"}]}}`)
	do(t, e, "UpdateItem", `{"TableName": "orders", "Key": {"p": {"N": "1"}}, "UpdateExpression": "REMOVE m.a, l[0]"}`)
	wantJSON(t, do(t, e, "GetItem", `{"TableName": "orders", "Key": {"p": {"N": "1"}}}`),
		`{"Item": {"p": {"N": "1"}, "m": {"M": {"b": {"S": "b"}}}, "l": {"L": [{"S": "1"}]}}}`)
}

func TestUpdateKeepsNumbersAsWritten(t *testing.T) {
	e := engineWith(t, `{"p": {"N": "1e3"}, "same": {"N": "1000.0"}, "long": {"N": "12345678901234567890.5"},
		"m": {"M": {"x": {"N": "1e1"}}}, "l": {"L": [{"N": "010"}]}, "set": {"NS": ["1.50"]}}`)
	do(t, e, "UpdateItem", `{"TableName": "orders", "Key": {"p": {"N": "1e3"}}, "UpdateExpression": "SET added = :a",
		"ExpressionAttributeValues": {":a": {"N": "7.00"}}}`)
	got := do(t, e, "Scan", `{"TableName": "orders"}`)
	wantJSON(t, got, `{"Count": 1, "ScannedCount": 1, "Items": [
		{"p": {"N": "1e3"}, "same": {"N": "1000.0"}, "long": {"N": "12345678901234567890.5"},
		"m": {"M": {"x": {"N": "1e1"}}}, "l": {"L": [{"N": "010"}]}, "set": {"NS": ["1.50"]},
		"added": {"N": "7.00"}}]}`)
}

func TestUpdateDropsEmptySets(t *testing.T) {
	e := engineWith(t, `{"p": {"N": "1"}, "tags": {"SS": ["x"]}}`)
	do(t, e, "UpdateItem", `{"TableName": "orders", "Key": {"p": {"N": "1"}}, "UpdateExpression": "DELETE tags :t",
		"ExpressionAttributeValues": {":t": {"SS": ["x"]}}}`)
	wantJSON(t, do(t, e, "GetItem", `{"TableName": "orders", "Key": {"p": {"N": "1"}}}`), `{"Item": {"p": {"N": "1"}}}`)
}

func TestUpdateReturnsWhatIsAskedFor(t *testing.T) {
	for returned, want := range map[string]string{
		"":            `{}`,
		"NONE":        `{}`,
		"ALL_OLD":     `{"Attributes": {"p": {"N": "1"}, "n": {"N": "1"}, "x": {"S": "x"}, "y": {"S": "y"}}}`,
		"ALL_NEW":     `{"Attributes": {"p": {"N": "1"}, "n": {"N": "2"}, "y": {"S": "y"}}}`,
		"UPDATED_OLD": `{"Attributes": {"n": {"N": "1"}, "x": {"S": "x"}}}`,
		"UPDATED_NEW": `{"Attributes": {"n": {"N": "2"}}}`,
	} {
		e := engineWith(t, `{"p": {"N": "1"}, "n": {"N": "1"}, "x": {"S": "x"}, "y": {"S": "y"}}`)
		got := do(t, e, "UpdateItem", `{"TableName": "orders", "Key": {"p": {"N": "1"}}, "ReturnValues": "`+returned+`",
			"UpdateExpression": "SET n = n + :one REMOVE x", "ExpressionAttributeValues": {":one": {"N": "1"}}}`)
		wantJSON(t, got, want)
	}
	_, err := engineWith(t).Do("UpdateItem", []byte(`{"TableName": "orders", "Key": {"p": {"N": "1"}}, "ReturnValues": "ALL"}`))
	wantError(t, err, Validation)
}

func TestFailedUpdateChangesNothing(t *testing.T) {
	e := engineWith(t, `{"p": {"N": "1"}, "x": {"S": "x"}}`)
	_, err := e.Do("UpdateItem", []byte(`{"TableName": "orders", "Key": {"p": {"N": "1"}},
		"UpdateExpression": "REMOVE x", "ConditionExpression": "attribute_not_exists(x)",
		"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}`))
	wantError(t, err, ConditionalCheckFailed)
	const there = `{"p": {"N": "1"}, "x": {"S": "x"}}`
	wantJSON(t, string(err.(*Error).Body()), `{"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
		"message": "The conditional request failed", "Item": `+there+`}`)
	wantJSON(t, do(t, e, "GetItem", `{"TableName": "orders", "Key": {"p": {"N": "1"}}}`), `{"Item": `+there+`}`)
}

func TestPanicIsAnAnswer(t *testing.T) {
	// minidyn stores a null among the attributes, and dereferences it later.
	e := engineWith(t, `{"p": {"N": "1"}, "x": null}`)
	for range 2 { // the first one leaves no lock behind
		_, err := e.Do("PutItem", []byte(`{"TableName": "orders", "Item": {"p": {"N": "1"}},
			"ConditionExpression": "attribute_exists(x)"}`))
		wantError(t, err, InternalServerError)
	}
}

func wantError(t *testing.T, err error, kind string) {
	t.Helper()
	if e, ok := errors.AsType[*Error](err); !ok || e.Type != kind {
		t.Fatalf("error is %v, want %s", err, kind)
	}
}
