package ddbjson

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestItemReadsEveryType(t *testing.T) {
	got, err := Item(json.RawMessage(`{
		"s": {"S": "dé\n"}, "empty": {"S": ""},
		"n": {"N": "-1.50e3"},
		"b": {"B": "AP8="}, "no bytes": {"B": ""},
		"yes": {"BOOL": true}, "no": {"BOOL": false},
		"null": {"NULL": true},
		"ss": {"SS": ["b", "a"]}, "ns": {"NS": ["1", "2"]}, "bs": {"BS": ["AQ==", "Ag=="]},
		"l": {"L": [{"S": "x"}, {"L": []}, {"M": {"deep": {"N": "7"}}}]},
		"m": {"M": {"l": {"L": [{"NULL": true}]}, "M": {"M": {}}}}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]types.AttributeValue{
		"s": stringValue("dé\n"), "empty": stringValue(""),
		"n": numberValue("-1.50e3"),
		"b": &types.AttributeValueMemberB{Value: []byte{0, 255}}, "no bytes": &types.AttributeValueMemberB{Value: []byte{}},
		"yes": &types.AttributeValueMemberBOOL{Value: true}, "no": &types.AttributeValueMemberBOOL{},
		"null": &types.AttributeValueMemberNULL{Value: true},
		"ss":   &types.AttributeValueMemberSS{Value: []string{"b", "a"}},
		"ns":   &types.AttributeValueMemberNS{Value: []string{"1", "2"}},
		"bs":   &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
		"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{
			stringValue("x"),
			&types.AttributeValueMemberL{Value: []types.AttributeValue{}},
			&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"deep": numberValue("7")}},
		}},
		"m": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
			"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberNULL{Value: true}}},
			"M": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}},
		}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v\nwant %#v", got, want)
	}
}

func TestItemNamesTheFieldThatIsWrong(t *testing.T) {
	for _, c := range []struct{ input, path, reason string }{
		{``, "", "not JSON: unexpected end of JSON input at byte 0"},
		{`{"a": {"S": "x"}`, "", "not JSON: unexpected end of JSON input at byte 16"},
		{`{"a": {"S": "x"}} {}`, "", "not JSON: invalid character '{' after top-level value at byte 19"},
		{"{\"a\": {\"S\": \"\xff\"}}", "", "not valid UTF-8"},
		{`null`, "", "must be an object, is null"},
		{`["a"]`, "", "must be an object, is an array"},
		{`{"a": "x"}`, "a", "must be an object, is a string"},
		{`{"a": {}}`, "a", "must have one type, has 0"},
		{`{"a": {"S": "x", "N": "1"}}`, "a", "must have one type, has 2"},
		{`{"a": {"S": "x", "S": "y"}}`, "a.S", "repeated field"},
		{`{"a": {"S": "x"}, "b": {"S": "x"}, "a": {"S": "y"}}`, "a", "repeated field"},
		{`{"a": {"X": "x"}}`, "a", `unknown type "X"`},
		{`{"a": {"s": "x"}}`, "a", `unknown type "s"`},
		{`{"a": {"S": 1}}`, "a", "S must be a string, is a number"},
		{`{"a": {"S": null}}`, "a", "S must be a string, is null"},
		{`{"a": {"N": 1}}`, "a", "N must be a string, is a number"},
		{`{"a": {"N": "1x"}}`, "a", `N is not a number: "1x"`},
		{`{"a": {"B": "AP8"}}`, "a", "B is not base64: illegal base64 data at input byte 0"},
		{`{"a": {"BOOL": "true"}}`, "a", "BOOL must be true or false, is a string"},
		{`{"a": {"NULL": false}}`, "a", "NULL must be true"},
		{`{"a": {"NULL": null}}`, "a", "NULL must be true or false, is null"},
		{`{"a": {"SS": "x"}}`, "a", "SS must be an array, is a string"},
		{`{"a": {"SS": []}}`, "a", "SS must not be empty"},
		{`{"a": {"SS": ["x", 1]}}`, "a[1]", "S must be a string, is a number"},
		{`{"a": {"SS": ["x", "y", "x"]}}`, "a[2]", "SS holds the same value twice"},
		{`{"a": {"NS": ["1", "2", "1.0"]}}`, "a[2]", "NS holds the same value twice"},
		{`{"a": {"NS": ["1", "two"]}}`, "a[1]", `N is not a number: "two"`},
		{`{"a": {"BS": ["AQ==", "?"]}}`, "a[1]", "B is not base64: illegal base64 data at input byte 0"},
		{`{"a": {"L": {}}}`, "a", "L must be an array, is an object"},
		{`{"a": {"L": [{"S": "x"}, {"S": false}]}}`, "a[1]", "S must be a string, is a boolean"},
		{`{"a": {"L": [{"M": {"b": {"M": {"c": {"Y": 1}}}}}]}}`, "a[0].b.c", `unknown type "Y"`},
		{`{"a": {"M": {"b.c": {"Y": 1}}}}`, `a["b.c"]`, `unknown type "Y"`},
		{`{"": {"Y": 1}}`, `[""]`, `unknown type "Y"`},
	} {
		_, err := Item(json.RawMessage(c.input))
		wantError(t, c.input, err, c.path, c.reason)
	}
}

func TestItemBoundsNesting(t *testing.T) {
	nested := func(levels int) json.RawMessage {
		return json.RawMessage(`{"a":` + strings.Repeat(`{"L":[`, levels) + `{"S":"x"}` + strings.Repeat(`]}`, levels) + `}`)
	}
	if _, err := Item(nested(maxNesting)); err != nil {
		t.Errorf("%d levels: %v", maxNesting, err)
	}
	_, err := Item(nested(maxNesting + 1))
	wantError(t, "one level more", err, "a"+strings.Repeat("[0]", maxNesting), "nested more than 32 levels deep")
}

// FuzzItem holds what Item promises of every input: no panic, and an error of
// its own kind or attributes that are all there.
func FuzzItem(f *testing.F) {
	f.Add([]byte(`{"a": {"M": {"b": {"L": [{"N": "1"}, {"BS": ["AQ=="]}]}}}}`))
	f.Add([]byte(`{"a": {"S": "x"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		item, err := Item(raw)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok || item != nil {
				t.Fatalf("got %v with the error %T %v", item, err, err)
			}
			return
		}
		for name, value := range item {
			if value == nil {
				t.Errorf("attribute %q has no value", name)
			}
		}
	})
}

func wantError(t *testing.T, what string, err error, path, reason string) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		t.Errorf("%s: error is %v, want one that says %q", what, err, reason)
	case e.Path != path || e.Reason != reason:
		t.Errorf("%s: error is\n%q %q, want\n%q %q", what, e.Path, e.Reason, path, reason)
	}
}
