package vectors

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestEveryEmbeddedFileIsRead(t *testing.T) {
	t.Setenv(folderVariable, "")
	if n := len(Endpoints(t)); n < 10 {
		t.Errorf("%d endpoint vectors", n)
	}
	if n := len(Hashes(t)); n < 75 {
		t.Errorf("%d hash vectors", n)
	}
	if n := len(Plans(t)); n < 215 {
		t.Errorf("%d plan vectors", n)
	}
	if n := len(Batches(t)); n < 84 {
		t.Errorf("%d batch vectors", n)
	}
	if n := len(Healths(t)); n < 55 {
		t.Errorf("%d health vectors", n)
	}
}

func TestTheVariableNamesAnotherFolder(t *testing.T) {
	dir := t.TempDir()
	content := `[{"seed": "-7", "nodes": ["http://a"], "order": ["http://a"]}]`
	if err := os.WriteFile(filepath.Join(dir, "plan.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(folderVariable, dir)
	want := []Plan{{Seed: -7, Nodes: []string{"http://a"}, Order: []string{"http://a"}}}
	if got := Plans(t); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if _, err := load[Hash](folder(), "hash.json"); err == nil || !strings.Contains(err.Error(), "hash.json") {
		t.Errorf("a file that is not in the folder: error %v, want one that names it", err)
	}
}

func TestABatchIsReadAsItIs(t *testing.T) {
	content := `[{"name": "n", "nodes": ["http://a"], "partitionKeys": {"t": "pk"}, "requestItems": {"t": [
		{}, {"PutRequest": {}}, {"PutRequest": {"Item": {}}}, {"PutRequest": null},
		{"PutRequest": {"Item": {"pk": {"S": "a"}}}, "DeleteRequest": {"Key": {"pk": {"N": "1.0"}}}},
		{"PutRequest": {"Item": {
			"b": {"B": "AQI="}, "bool": {"BOOL": true}, "null": {"NULL": true}, "nil": null,
			"ss": {"SS": ["a"]}, "ns": {"NS": ["1"]}, "bs": {"BS": ["AQ=="]},
			"l": {"L": [{"S": "x"}, {"N": "2"}]}, "m": {"M": {"k": {"L": []}}}}}}
	]}, "votes": [{"node": "http://a", "count": 2}], "order": ["http://a"], "fallback": false, "discover": []}]`
	batches, err := load[Batch](fstest.MapFS{"batch.json": {Data: []byte(content)}}, "batch.json")
	if err != nil {
		t.Fatal(err)
	}
	want := []types.WriteRequest{
		{}, {PutRequest: &types.PutRequest{}}, {PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{}}}, {},
		{
			PutRequest:    &types.PutRequest{Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}},
			DeleteRequest: &types.DeleteRequest{Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberN{Value: "1.0"}}},
		},
		{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
			"b":    &types.AttributeValueMemberB{Value: []byte{1, 2}},
			"bool": &types.AttributeValueMemberBOOL{Value: true},
			"null": &types.AttributeValueMemberNULL{Value: true},
			"nil":  nil,
			"ss":   &types.AttributeValueMemberSS{Value: []string{"a"}},
			"ns":   &types.AttributeValueMemberNS{Value: []string{"1"}},
			"bs":   &types.AttributeValueMemberBS{Value: [][]byte{{1}}},
			"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{
				&types.AttributeValueMemberS{Value: "x"}, &types.AttributeValueMemberN{Value: "2"},
			}},
			"m": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"k": &types.AttributeValueMemberL{}}},
		}}},
	}
	got := batches[0].RequestItems["t"]
	if len(got) != len(want) {
		t.Fatalf("%d writes, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("write %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestWhatIsNotWholeIsRefused(t *testing.T) {
	hash := func(content string) func(fstest.MapFS) error {
		return func(folder fstest.MapFS) error {
			if content != "" {
				folder["hash.json"] = &fstest.MapFile{Data: []byte(content)}
			}
			_, err := load[Hash](folder, "hash.json")
			return err
		}
	}
	batch := func(writes string) func(fstest.MapFS) error {
		return func(folder fstest.MapFS) error {
			folder["batch.json"] = &fstest.MapFile{Data: []byte(`[{"name": "n", "nodes": [], "partitionKeys": {},
				"requestItems": {"t": [` + writes + `]}, "votes": [], "order": [], "fallback": true, "discover": []}]`)}
			_, err := load[Batch](folder, "batch.json")
			return err
		}
	}
	const value = `"name": "n", "value": {"S": "hello"}, `
	for _, c := range []struct {
		name string
		load func(fstest.MapFS) error
		want string // in the error
	}{
		{"missing file", hash(""), "hash.json: file does not exist"},
		{"not JSON", hash(`[`), "unexpected EOF"},
		{"empty list", hash(`[]`), "the list is empty"},
		{"null", hash(`null`), "the list is empty"},
		{"not a list", hash(`{}`), "cannot unmarshal object"},
		{"text after the list", hash(`[{` + value + `"hash": "1", "hex": "0x0000000000000001"}] x`), "something follows the value"},
		{"two lists", hash(`[{}] []`), "something follows the value"},
		{"unknown field", hash(`[{` + value + `"hash": "1", "hex": "0x0000000000000001", "salt": 1}]`), `entry 0: json: unknown field "salt"`},
		{"missing field", hash(`[{"value": {"S": ""}, "hash": "1", "hex": "0x0000000000000001"}]`), `entry 0: the field "name" is missing`},
		{"hash and hex differ", hash(`[{` + value + `"hash": "-1", "hex": "0x0000000000000001"}]`), "the hash -1 is 0xFFFFFFFFFFFFFFFF, not"},
		{"hash out of range", hash(`[{` + value + `"hash": "9223372036854775808", "hex": "0x8000000000000000"}]`), "9223372036854775808"},
		{"unknown field of a write", batch(`{"Put": {}}`), `unknown field "Put"`},
		{"unknown field of a put", batch(`{"PutRequest": {"Key": {}}}`), `unknown field "Key"`},
		{"value of two types", batch(`{"PutRequest": {"Item": {"a": {"S": "", "N": "1"}}}}`), "a value has 2 types"},
		{"value of no type", batch(`{"PutRequest": {"Item": {"a": {}}}}`), "a value has 0 types"},
		{"value of an unknown type", batch(`{"PutRequest": {"Item": {"a": {"X": 1}}}}`), `unknown type "X"`},
		{"value that is null", batch(`{"PutRequest": {"Item": {"a": {"S": null}}}}`), `type "S" is null`},
		{"value of the wrong form", batch(`{"PutRequest": {"Item": {"a": {"N": 1}}}}`), "cannot unmarshal number"},
		{"binary that is not base64", batch(`{"PutRequest": {"Item": {"a": {"B": "?"}}}}`), "illegal base64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.load(fstest.MapFS{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}
