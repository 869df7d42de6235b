package middleware

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

//go:embed testdata/singlewrites.txt
var singleWrites string

// The words of testdata/singlewrites.txt.
var (
	answers = map[byte]Reason{'k': ReasonKeyed, 'm': ReasonMode, 'n': ReasonNotReadModifyWrite}

	writeModes = []Mode{None, RMW, AnyWrite} // in the order of the columns

	returnValues = []types.ReturnValue{
		"", types.ReturnValueNone, types.ReturnValueAllOld, types.ReturnValueUpdatedOld,
		types.ReturnValueAllNew, types.ReturnValueUpdatedNew,
	}

	expressions = map[string]*string{"nil": nil, "empty": aws.String(""), "set": aws.String("any text")}

	expectations = map[string]map[string]types.ExpectedAttributeValue{
		"nil":   nil,
		"empty": {},
		"set":   {"v": {Exists: aws.Bool(false)}},
	}

	attributeUpdates = map[string]map[string]types.AttributeValueUpdate{
		"nil":         nil,
		"empty":       {},
		"put":         {"v": {Action: types.AttributeActionPut, Value: numberOne}},
		"put-none":    {"v": {Action: types.AttributeActionPut}},
		"add":         {"v": {Action: types.AttributeActionAdd, Value: numberOne}},
		"add-none":    {"v": {Action: types.AttributeActionAdd}},
		"delete":      {"v": {Action: types.AttributeActionDelete, Value: someStrings}},
		"delete-none": {"v": {Action: types.AttributeActionDelete}},
		"other":       {"v": {Action: "INCREMENT", Value: numberOne}},
		"other-none":  {"v": {Action: "INCREMENT"}},
		"unset":       {"v": {Value: numberOne}}, // the server takes it for a PUT
	}

	numberOne   = &types.AttributeValueMemberN{Value: "1"}
	someStrings = &types.AttributeValueMemberSS{Value: []string{"a"}}
)

// A writeKind is the first five words of a line.
type writeKind struct{ operation, condition, expected, expression, updates string }

// everyWriteKind returns all combinations of the words.
func everyWriteKind() []writeKind {
	var kinds []writeKind
	for condition := range expressions {
		for expected := range expectations {
			for _, operation := range []string{"put", "delete"} {
				kinds = append(kinds, writeKind{operation, condition, expected, "-", "-"})
			}
			for expression := range expressions {
				for updates := range attributeUpdates {
					kinds = append(kinds, writeKind{"update", condition, expected, expression, updates})
				}
			}
		}
	}
	return kinds
}

// input makes a write of the kind to the table "orders".
func (k writeKind) input(key map[string]types.AttributeValue, returned types.ReturnValue) any {
	table := aws.String("orders")
	switch k.operation {
	case "put":
		return &dynamodb.PutItemInput{
			TableName: table, Item: key, ReturnValues: returned,
			ConditionExpression: expressions[k.condition], Expected: expectations[k.expected],
		}
	case "delete":
		return &dynamodb.DeleteItemInput{
			TableName: table, Key: key, ReturnValues: returned,
			ConditionExpression: expressions[k.condition], Expected: expectations[k.expected],
		}
	}
	return &dynamodb.UpdateItemInput{
		TableName: table, Key: key, ReturnValues: returned,
		ConditionExpression: expressions[k.condition], Expected: expectations[k.expected],
		UpdateExpression: expressions[k.expression], AttributeUpdates: attributeUpdates[k.updates],
	}
}

// readWriteKinds reads the expected answers: for each kind and mode, the
// letters by ReturnValues.
func readWriteKinds(t *testing.T) map[writeKind][]string {
	t.Helper()
	table := map[writeKind][]string{}
	for i, line := range strings.Split(strings.TrimSpace(singleWrites), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) != 5+len(writeModes) {
			t.Fatalf("line %d has %d words: %s", i+1, len(words), line)
		}
		for _, letters := range words[5:] {
			if len(letters) != len(returnValues) || strings.Trim(letters, "kmn") != "" {
				t.Fatalf("line %d has the answers %s", i+1, letters)
			}
		}
		kind := writeKind{words[0], words[1], words[2], words[3], words[4]}
		if _, ok := table[kind]; ok {
			t.Fatalf("line %d repeats a kind: %s", i+1, line)
		}
		table[kind] = words[5:]
	}
	return table
}

func TestEveryKindOfSingleWrite(t *testing.T) {
	table := readWriteKinds(t)
	kinds := everyWriteKind()
	if len(table) != len(kinds) {
		t.Errorf("%d kinds have answers, there are %d", len(table), len(kinds))
	}
	ring := ringOf(t, 10)
	key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "user-001"}}
	preferred := preferredNode(ring, key["pk"])

	for _, kind := range kinds {
		wanted, ok := table[kind]
		if !ok {
			t.Errorf("no answers for %+v", kind)
			continue
		}
		for m, mode := range writeModes {
			for r, returned := range returnValues {
				want := answers[wanted[m][r]]
				input := kind.input(key, returned)
				for _, router := range []*router{
					{mode: mode},
					{mode: (mode + 1) % 3, tables: map[string]Mode{"orders": mode}},
				} {
					router.schemas = newKnownKeys("orders", "pk")
					var plan resolver.Plan
					got := router.decide(&plan, ring, input, nextAfter(preferred))
					what := fmt.Sprintf("%+v with ReturnValues %q in mode %v", kind, returned, mode)
					if got != want {
						t.Errorf("%s is %v, want %v", what, got, want)
					}
					// A write without affinity is sent elsewhere here.
					if atPreferred := plan.At(0) == preferred; atPreferred != (want == ReasonKeyed) {
						t.Errorf("%s is sent to node %d, its key prefers %d", what, plan.At(0), preferred)
					}
				}
			}
		}
	}
}

// What the SDK may learn of in the future must get its lines, too.
func TestSingleWritesCoverTheSDK(t *testing.T) {
	for _, v := range types.ReturnValue("").Values() {
		if !slices.Contains(returnValues, v) {
			t.Errorf("ReturnValues %s has no column", v)
		}
	}
	for _, action := range types.AttributeAction("").Values() {
		word := strings.ToLower(string(action))
		for _, word := range []string{word, word + "-none"} {
			if attributeUpdates[word]["v"].Action != action {
				t.Errorf("the action %s has no lines %q", action, word)
			}
		}
	}
}
