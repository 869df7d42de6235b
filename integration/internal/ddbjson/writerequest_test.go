package ddbjson

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func stringValue(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func numberValue(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func putOf(name, value string) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{
		Item: map[string]types.AttributeValue{name: stringValue(value)},
	}}
}

func deleteOf(name, value string) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{
		Key: map[string]types.AttributeValue{name: stringValue(value)},
	}}
}

func TestWriteRequest(t *testing.T) {
	for input, want := range map[string]types.WriteRequest{
		`{"PutRequest": {"Item": {"pk": {"S": "a"}}}}`:   putOf("pk", "a"),
		`{"DeleteRequest": {"Key": {"pk": {"S": "a"}}}}`: deleteOf("pk", "a"),
		`{"PutRequest": {"Item": {}}}`:                   {PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{}}},
	} {
		got, err := WriteRequest(json.RawMessage(input))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", input, got, err)
		}
	}
}

func TestWriteRequestNamesTheFieldThatIsWrong(t *testing.T) {
	for _, c := range []struct{ input, path, reason string }{
		{`{`, "", "not JSON: unexpected end of JSON input at byte 1"},
		{`7`, "", "must be an object, is a number"},
		{`{}`, "", "must have a PutRequest or a DeleteRequest"},
		{`{"PutRequest": {"Item": {}}, "DeleteRequest": {"Key": {}}}`, "", "must not have both a PutRequest and a DeleteRequest"},
		{`{"putRequest": {"Item": {}}}`, "putRequest", "unknown field"},
		{`{"PutRequest": {"Item": {}}, "x": 1}`, "x", "unknown field"},
		{`{"PutRequest": null}`, "PutRequest", "must be an object, is null"},
		{`{"PutRequest": {}}`, "PutRequest.Item", "missing"},
		{`{"PutRequest": {"Key": {}}}`, "PutRequest.Key", "unknown field"},
		{`{"PutRequest": {"Item": {}, "Item": {}}}`, "PutRequest.Item", "repeated field"},
		{`{"PutRequest": {"Item": {"pk": {"X": "a"}}}}`, "PutRequest.Item.pk", `unknown type "X"`},
		{`{"DeleteRequest": {"Item": {}}}`, "DeleteRequest.Item", "unknown field"},
		{`{"DeleteRequest": {"Key": [1]}}`, "DeleteRequest.Key", "must be an object, is an array"},
	} {
		_, err := WriteRequest(json.RawMessage(c.input))
		wantError(t, c.input, err, c.path, c.reason)
	}
}

func TestTableWrite(t *testing.T) {
	table, w, err := TableWrite(json.RawMessage(`{"PutRequest": {"Item": {"pk": {"S": "a"}}}, "table": "orders"}`))
	if table != "orders" || err != nil || !reflect.DeepEqual(w, putOf("pk", "a")) {
		t.Errorf("got %q, %+v, %v", table, w, err)
	}
	for _, c := range []struct{ input, path, reason string }{
		{`{"PutRequest": {"Item": {}}}`, "table", "missing"},
		{`{"table": 7, "PutRequest": {"Item": {}}}`, "table", "must be a string, is a number"},
		{`{"table": "orders"}`, "", "must have a PutRequest or a DeleteRequest"},
		{`{"table": "orders", "Table": "orders"}`, "Table", "unknown field"},
		{`{"table": "orders", "PutRequest": {"Item": {"pk": {"N": ""}}}}`, "PutRequest.Item.pk", `N is not a number: ""`},
		{`oops`, "", "not JSON: invalid character 'o' looking for beginning of value at byte 1"},
		{`[]`, "", "must be an object, is an array"},
	} {
		_, _, err := TableWrite(json.RawMessage(c.input))
		wantError(t, c.input, err, c.path, c.reason)
	}
}

func TestRequestItems(t *testing.T) {
	got, err := RequestItems(json.RawMessage(`{
		"orders": [{"PutRequest": {"Item": {"pk": {"S": "a"}}}}, {"DeleteRequest": {"Key": {"pk": {"S": "b"}}}}],
		"events": []
	}`))
	want := map[string][]types.WriteRequest{
		"orders": {putOf("pk", "a"), deleteOf("pk", "b")},
		"events": {},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, c := range []struct{ input, path, reason string }{
		{`[]`, "", "must be an object, is an array"},
		{`{"orders": {}}`, "orders", "must be an array, is an object"},
		{`{"orders": [], "orders": []}`, "orders", "repeated field"},
		{`{"orders": [{"PutRequest": {"Item": {}}}, {}]}`, "orders[1]", "must have a PutRequest or a DeleteRequest"},
		{`{"my.orders": [{"PutRequest": {"Item": {"pk": {"X": "a"}}}}]}`, `["my.orders"][0].PutRequest.Item.pk`, `unknown type "X"`},
		{`{`, "", "not JSON: unexpected end of JSON input at byte 1"},
	} {
		_, err := RequestItems(json.RawMessage(c.input))
		wantError(t, c.input, err, c.path, c.reason)
	}
}

func TestErrorReadsWell(t *testing.T) {
	_, err := WriteRequest(json.RawMessage(`{"PutRequest": {"Item": {"pk": {"X": "a"}}}}`))
	if got, want := err.Error(), `PutRequest.Item.pk: unknown type "X"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = WriteRequest(json.RawMessage(`{}`))
	if got, want := err.Error(), "must have a PutRequest or a DeleteRequest"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
