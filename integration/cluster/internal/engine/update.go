package engine

import (
	"context"
	"maps"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/server"
)

// updateItem has minidyn update the item and then writes it once more, with
// what minidyn gets wrong put right.
func (e *Engine) updateItem(in *server.UpdateItemInput) (any, error) {
	returned, known := returnedAttributes[in.ReturnValues]
	if !known {
		return nil, invalid("Unrecognized value for ReturnValues: %s", in.ReturnValues)
	}
	err := translateCondition(in.Expected, in.ConditionalOperator,
		&in.ConditionExpression, &in.ExpressionAttributeNames, &in.ExpressionAttributeValues)
	if err != nil {
		return nil, err
	}
	if err := translateUpdates(in); err != nil {
		return nil, err
	}
	defer e.lock(true)()
	t, err := e.resolveKeyLocked(&in.TableName, in.Key)
	if err != nil {
		return nil, err
	}
	old, err := e.itemLocked(t, in.Key)
	if err != nil {
		return nil, err
	}
	in.ReturnValues = types.ReturnValueAllNew
	out, err := e.store.UpdateItem(context.Background(), in)
	if err != nil {
		return nil, e.refusalLocked(err, in.ReturnValuesOnConditionCheckFailure, t, in.Key)
	}
	updated := out.Attributes
	repair(updated, old, in)
	_, err = e.store.PutItem(context.Background(), &server.PutItemInput{TableName: in.TableName, Item: updated})
	if err != nil {
		return nil, err
	}
	return answerItem("Attributes", returned(old, updated)), nil
}

// returnedAttributes choose what UpdateItem answers.
var returnedAttributes = map[types.ReturnValue]func(old, updated attributes) attributes{
	"":                          func(_, _ attributes) attributes { return nil },
	types.ReturnValueNone:       func(_, _ attributes) attributes { return nil },
	types.ReturnValueAllOld:     func(old, _ attributes) attributes { return old },
	types.ReturnValueAllNew:     func(_, updated attributes) attributes { return updated },
	types.ReturnValueUpdatedOld: func(old, updated attributes) attributes { return differing(old, updated) },
	types.ReturnValueUpdatedNew: func(old, updated attributes) attributes { return differing(updated, old) },
}

// differing returns the attributes of an item that another does not have as
// they are.
func differing(item, other attributes) attributes {
	out := attributes{}
	for name, v := range item {
		if !reflect.DeepEqual(v, other[name]) {
			out[name] = v
		}
	}
	return out
}

// repair puts right what minidyn gets wrong when it updates an item: it leaves
// the attributes that a REMOVE names, it leaves sets that lost their last
// element, and it passes every number of the item through a float64, so that
// 1e3 becomes 1000 and long numbers lose digits.
func repair(updated, old attributes, in *server.UpdateItemInput) {
	for _, name := range removed(aws.ToString(in.UpdateExpression), in.ExpressionAttributeNames) {
		delete(updated, name)
	}
	written := numerals{}
	written.addAll(old)
	written.addAll(in.ExpressionAttributeValues)
	for name, v := range updated {
		if isEmptySet(v) {
			delete(updated, name)
			continue
		}
		// Among equal numbers that are written differently, an attribute's own
		// is the likeliest.
		known := maps.Clone(written)
		known.add(old[name])
		known.restore(v)
	}
	maps.Copy(updated, in.Key)
}

func isEmptySet(v *server.AttributeValue) bool {
	return v.SS != nil && len(v.SS) == 0 || v.NS != nil && len(v.NS) == 0 || v.BS != nil && len(v.BS) == 0
}

var clauseStart = regexp.MustCompile(`(?i)(?:^|\s)(SET|REMOVE|ADD|DELETE)\s`)

// removed returns the attributes that an update expression removes as a whole.
func removed(expression string, names map[string]string) []string {
	var attributes []string
	clauses := clauseStart.FindAllStringSubmatchIndex(expression, -1)
	for i, c := range clauses {
		if !strings.EqualFold(expression[c[2]:c[3]], "REMOVE") {
			continue
		}
		end := len(expression)
		if i+1 < len(clauses) {
			end = clauses[i+1][0]
		}
		for path := range strings.SplitSeq(expression[c[1]:end], ",") {
			path = strings.TrimSpace(path)
			if strings.ContainsAny(path, ".[") {
				continue // minidyn removes parts of attributes itself
			}
			if name, ok := names[path]; ok {
				path = name
			}
			attributes = append(attributes, path)
		}
	}
	return attributes
}

// numerals remember how numbers were written before they became a float64.
type numerals map[float64]string

func (n numerals) addAll(item attributes) {
	for _, v := range item {
		n.add(v)
	}
}

func (n numerals) add(v *server.AttributeValue) {
	eachNumber(v, func(text *string) {
		if f, err := strconv.ParseFloat(*text, 64); err == nil {
			n[f] = *text
		}
	})
}

// restore writes the numbers in a value as they were, those that are known.
func (n numerals) restore(v *server.AttributeValue) {
	eachNumber(v, func(text *string) {
		if f, err := strconv.ParseFloat(*text, 64); err == nil && n[f] != "" {
			*text = n[f]
		}
	})
}

// eachNumber calls a function with every number in a value.
func eachNumber(v *server.AttributeValue, do func(text *string)) {
	if v == nil {
		return
	}
	if v.N != nil {
		do(v.N)
	}
	for _, text := range v.NS {
		do(text)
	}
	for _, element := range v.L {
		eachNumber(element, do)
	}
	for _, element := range v.M {
		eachNumber(element, do)
	}
}
