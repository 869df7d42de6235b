package resolver

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A SingleWrite is what routing needs of a PutItem, UpdateItem or DeleteItem.
type SingleWrite struct {
	// Table is the table's name or ARN.
	Table string
	// Attributes have the item's key: the item of a put, the key of the others.
	Attributes map[string]types.AttributeValue
	// ReadsFirst is set if the server reads the item before it writes it, which
	// is what makes the write a lightweight transaction in tables whose write
	// isolation is only_rmw_uses_lwt.
	ReadsFirst bool
}

// SingleWriteOf returns the write that a typed input of the SDK asks for, and
// false for the input of any other operation, or nil.
func SingleWriteOf(input any) (SingleWrite, bool) {
	switch in := input.(type) {
	case *dynamodb.PutItemInput:
		if in != nil {
			return SingleWrite{aws.ToString(in.TableName), in.Item, hasCondition(in.ConditionExpression, in.Expected) || returnsValues(in.ReturnValues)}, true
		}
	case *dynamodb.DeleteItemInput:
		if in != nil {
			return SingleWrite{aws.ToString(in.TableName), in.Key, hasCondition(in.ConditionExpression, in.Expected) || returnsValues(in.ReturnValues)}, true
		}
	case *dynamodb.UpdateItemInput:
		if in != nil {
			return SingleWrite{aws.ToString(in.TableName), in.Key, updateReadsFirst(in)}, true
		}
	}
	return SingleWrite{}, false
}

// hasCondition reports whether a write has a condition, in either form, that has
// to be checked first. Source: rmw_operation and its uses in Alternator's
// executor.cc, as for the other reasons below.
func hasCondition(expression *string, expected map[string]types.ExpectedAttributeValue) bool {
	return aws.ToString(expression) != "" || len(expected) > 0
}

// returnsValues reports whether a put or delete asks for the old item.
func returnsValues(v types.ReturnValue) bool { return v != "" && v != types.ReturnValueNone }

// updateReadsFirst: besides a condition or old values, an update expression
// may refer to what is there, and is taken to do so. UPDATED_NEW returns what
// the update itself wrote. Of the legacy updates, ADD adds to what is there and
// a DELETE with a value takes from it; PUT and a plain DELETE do not look.
func updateReadsFirst(in *dynamodb.UpdateItemInput) bool {
	if aws.ToString(in.UpdateExpression) != "" || hasCondition(in.ConditionExpression, in.Expected) {
		return true
	}
	switch in.ReturnValues {
	case types.ReturnValueAllOld, types.ReturnValueUpdatedOld, types.ReturnValueAllNew:
		return true
	}
	for _, update := range in.AttributeUpdates {
		switch update.Action {
		case types.AttributeActionAdd:
			return true
		case types.AttributeActionDelete:
			if update.Value != nil {
				return true
			}
		}
	}
	return false
}
