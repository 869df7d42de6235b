package ddbjson

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestAnyRequestItemsTakesWritesThatAServerRefuses(t *testing.T) {
	both := types.WriteRequest{PutRequest: putOf("pk", "a").PutRequest, DeleteRequest: deleteOf("pk", "b").DeleteRequest}
	want := map[string][]types.WriteRequest{"orders": {{}, both, putOf("id", "c")}, "users": {}}
	input := json.RawMessage(`{"users": [], "orders": [
		{},
		{"DeleteRequest": {"Key": {"pk": {"S": "b"}}}, "PutRequest": {"Item": {"pk": {"S": "a"}}}},
		{"PutRequest": {"Item": {"id": {"S": "c"}}}}
	]}`)
	got, err := AnyRequestItems(input)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	_, err = RequestItems(input)
	wantError(t, "RequestItems", err, "orders[0]", "must have a PutRequest or a DeleteRequest")
}

func TestAnyRequestItemsNamesTheFieldThatIsWrong(t *testing.T) {
	for _, c := range []struct{ input, path, reason string }{
		{`{"orders": {}}`, "orders", "must be an array, is an object"},
		{`{"orders": [{}, 1]}`, "orders[1]", "must be an object, is a number"},
		{`{"orders": [{"PutRequest": {}}]}`, "orders[0].PutRequest.Item", "missing"},
		{`{"orders": [{"GetRequest": {}}]}`, "orders[0].GetRequest", "unknown field"},
		{`{"orders": [], "orders": []}`, "orders", "repeated field"},
	} {
		_, err := AnyRequestItems(json.RawMessage(c.input))
		wantError(t, c.input, err, c.path, c.reason)
	}
}
