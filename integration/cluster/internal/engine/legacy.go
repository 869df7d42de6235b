package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/server"
)

// Alternator takes the parameters that came before expressions; minidyn reads
// and ignores them. Those of writes are translated into expressions here, and
// those of reads are refused.

// expression is one being written, with its names and values.
type expression struct {
	prefix string // of its placeholders
	parts  []string
	names  map[string]string
	values attributes
}

// name adds an attribute name and returns its placeholder.
func (x *expression) name(attribute string) string {
	if x.names == nil {
		x.names = map[string]string{}
	}
	placeholder := fmt.Sprintf("#%s%d", x.prefix, len(x.names))
	x.names[placeholder] = attribute
	return placeholder
}

// value adds a value and returns its placeholder.
func (x *expression) value(v *server.AttributeValue) string {
	if x.values == nil {
		x.values = attributes{}
	}
	placeholder := fmt.Sprintf(":%s%d", x.prefix, len(x.values))
	x.values[placeholder] = v
	return placeholder
}

// translateCondition replaces Expected by a ConditionExpression in the input
// whose fields it is given.
func translateCondition(
	expected map[string]server.ExpectedAttributeValue, conditional types.ConditionalOperator,
	condition **string, names *map[string]string, values *attributes,
) error {
	if len(expected) == 0 {
		return nil
	}
	if *condition != nil {
		return mixed("Expected", "ConditionExpression")
	}
	x := expression{prefix: "expected"}
	for _, attribute := range slices.Sorted(maps.Keys(expected)) {
		if err := x.expect(attribute, expected[attribute]); err != nil {
			return err
		}
	}
	operator := " AND "
	if conditional == types.ConditionalOperatorOr {
		operator = " OR "
	}
	*condition = aws.String(strings.Join(x.parts, operator))
	x.merge(names, values)
	return nil
}

// merge adds the expression's names and values to those of an input.
func (x *expression) merge(names *map[string]string, values *attributes) {
	if *names == nil {
		*names = map[string]string{}
	}
	maps.Copy(*names, x.names)
	if *values == nil && x.values != nil {
		*values = attributes{}
	}
	maps.Copy(*values, x.values)
}

// comparisons are the expressions that comparison operators stand for, with
// the attribute and the value.
var comparisons = map[types.ComparisonOperator]string{
	types.ComparisonOperatorEq:         "%s = %s",
	types.ComparisonOperatorNe:         "%s <> %s",
	types.ComparisonOperatorLt:         "%s < %s",
	types.ComparisonOperatorLe:         "%s <= %s",
	types.ComparisonOperatorGt:         "%s > %s",
	types.ComparisonOperatorGe:         "%s >= %s",
	types.ComparisonOperatorBeginsWith: "begins_with(%s, %s)",
	types.ComparisonOperatorContains:   "contains(%s, %s)",
}

// expect adds what one entry of Expected demands of an attribute.
func (x *expression) expect(attribute string, e server.ExpectedAttributeValue) error {
	operand, operator := e.Value, e.ComparisonOperator
	switch {
	case operator == types.ComparisonOperatorNull || e.Exists != nil && !*e.Exists:
		x.parts = append(x.parts, "attribute_not_exists("+x.name(attribute)+")")
		return nil
	case operator == types.ComparisonOperatorNotNull:
		x.parts = append(x.parts, "attribute_exists("+x.name(attribute)+")")
		return nil
	case operator == "":
		operator = types.ComparisonOperatorEq
	case len(e.AttributeValueList) == 1:
		operand = e.AttributeValueList[0]
	}
	format, known := comparisons[operator]
	if !known || operand == nil {
		return invalid("Expected: %s of %s is not supported by the embedded engine, or lacks its one value", operator, attribute)
	}
	x.parts = append(x.parts, fmt.Sprintf(format, x.name(attribute), x.value(operand)))
	return nil
}

// translateUpdates replaces AttributeUpdates by an UpdateExpression, and a
// missing update by one that changes nothing: minidyn insists on one.
func translateUpdates(in *server.UpdateItemInput) error {
	if aws.ToString(in.UpdateExpression) != "" {
		if len(in.AttributeUpdates) > 0 {
			return mixed("AttributeUpdates", "UpdateExpression")
		}
		return nil
	}
	x := expression{prefix: "update"}
	clauses := map[string][]string{}
	for _, attribute := range slices.Sorted(maps.Keys(in.AttributeUpdates)) {
		switch u := in.AttributeUpdates[attribute]; {
		case u.Action == types.AttributeActionDelete && u.Value == nil:
			clauses["REMOVE"] = append(clauses["REMOVE"], x.name(attribute))
		case u.Value == nil:
			return invalid("AttributeUpdates: %s of %s lacks its value", u.Action, attribute)
		case u.Action == types.AttributeActionDelete, u.Action == types.AttributeActionAdd:
			clause := string(u.Action)
			clauses[clause] = append(clauses[clause], x.name(attribute)+" "+x.value(u.Value))
		default:
			clauses["SET"] = append(clauses["SET"], x.name(attribute)+" = "+x.value(u.Value))
		}
	}
	if len(clauses) == 0 {
		clauses["REMOVE"] = []string{x.name("an attribute that no item has")}
	}
	for _, clause := range slices.Sorted(maps.Keys(clauses)) {
		x.parts = append(x.parts, clause+" "+strings.Join(clauses[clause], ", "))
	}
	in.UpdateExpression = aws.String(strings.Join(x.parts, " "))
	x.merge(&in.ExpressionAttributeNames, &in.ExpressionAttributeValues)
	return nil
}

func mixed(old, expression string) error {
	return invalid("Can not use both expression and non-expression parameters in the same request: "+
		"Non-expression parameters: {%s} Expression parameters: {%s}", old, expression)
}

// refuseLegacy refuses a read that uses parameters that came before
// expressions.
func refuseLegacy(used map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if used[name] {
			return invalid("%s is not supported by the embedded engine; use expressions", name)
		}
	}
	return nil
}
