package engine

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/server"
)

// putItem answers the item that was there before if asked to; minidyn answers
// the new one whether asked or not.
func (e *Engine) putItem(in *server.PutItemInput) (any, error) {
	err := translateCondition(in.Expected, in.ConditionalOperator,
		&in.ConditionExpression, &in.ExpressionAttributeNames, &in.ExpressionAttributeValues)
	if err != nil {
		return nil, err
	}
	wantsOld := in.ReturnValues == types.ReturnValueAllOld
	defer e.lock(wantsOld || in.ReturnValuesOnConditionCheckFailure != "")()
	t, err := e.resolveLocked(&in.TableName)
	if err != nil {
		return nil, err
	}
	if _, err := t.identity(in.Item); err != nil {
		return nil, err
	}
	out := answer{}
	if wantsOld {
		old, err := e.itemLocked(t, t.keyOf(in.Item))
		if err != nil {
			return nil, err
		}
		out = answerItem("Attributes", old)
	}
	if _, err := e.store.PutItem(context.Background(), in); err != nil {
		return nil, e.refusalLocked(err, in.ReturnValuesOnConditionCheckFailure, t, t.keyOf(in.Item))
	}
	return out, nil
}

func (e *Engine) deleteItem(in *server.DeleteItemInput) (any, error) {
	err := translateCondition(in.Expected, in.ConditionalOperator,
		&in.ConditionExpression, &in.ExpressionAttributeNames, &in.ExpressionAttributeValues)
	if err != nil {
		return nil, err
	}
	defer e.lock(in.ReturnValuesOnConditionCheckFailure != "")()
	t, err := e.resolveKeyLocked(&in.TableName, in.Key)
	if err != nil {
		return nil, err
	}
	out, err := e.store.DeleteItem(context.Background(), in)
	if err != nil {
		return nil, e.refusalLocked(err, in.ReturnValuesOnConditionCheckFailure, t, in.Key)
	}
	return answerItem("Attributes", out.Attributes), nil
}

func (e *Engine) getItem(in *server.GetItemInput) (any, error) {
	if err := refuseLegacy(map[string]bool{"AttributesToGet": in.AttributesToGet != nil}); err != nil {
		return nil, err
	}
	defer e.lock(false)()
	if _, err := e.resolveKeyLocked(&in.TableName, in.Key); err != nil {
		return nil, err
	}
	item, err := e.store.GetItem(context.Background(), in)
	if err != nil {
		return nil, err
	}
	return answerItem("Item", item.Item), nil
}

// lock locks for an operation on items. It shuts out every other one if the
// operation takes several steps that nothing may come between.
func (e *Engine) lock(exclusive bool) (unlock func()) {
	if exclusive {
		e.mu.Lock()
		return e.mu.Unlock
	}
	e.mu.RLock()
	return e.mu.RUnlock
}

// itemLocked reads one item; it is empty if there is none.
func (e *Engine) itemLocked(t *table, key attributes) (attributes, error) {
	out, err := e.store.GetItem(context.Background(), &server.GetItemInput{TableName: &t.name, Key: key})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// refusalLocked completes the error of a write with the item that its
// condition found, if the request asked for that.
func (e *Engine) refusalLocked(
	err error, wanted types.ReturnValuesOnConditionCheckFailure, t *table, key attributes,
) error {
	refusal := wireError(err)
	if refusal.Type != ConditionalCheckFailed || wanted != types.ReturnValuesOnConditionCheckFailureAllOld {
		return refusal
	}
	found, err := e.itemLocked(t, key)
	if err != nil {
		return err
	}
	refusal.Item = found
	return refusal
}

// keyOf returns the key attributes among an item's.
func (t *table) keyOf(item attributes) attributes {
	key := make(attributes, len(t.key))
	for _, k := range t.key {
		key[k.name] = item[k.name]
	}
	return key
}

// resolveKeyLocked finds a table and checks that a key is one of its keys.
func (e *Engine) resolveKeyLocked(nameOrARN **string, key attributes) (*table, error) {
	t, err := e.resolveLocked(nameOrARN)
	if err != nil {
		return nil, err
	}
	if len(key) != len(t.key) {
		return nil, invalid("The provided key element does not match the schema")
	}
	_, err = t.identity(key)
	return t, err
}

func (e *Engine) query(in *server.QueryInput) (any, error) {
	err := refuseLegacy(map[string]bool{
		"AttributesToGet": in.AttributesToGet != nil,
		"KeyConditions":   in.KeyConditions != nil,
		"QueryFilter":     in.QueryFilter != nil,
	})
	if err != nil {
		return nil, err
	}
	defer e.lock(false)()
	if err := e.resolveIndexLocked(&in.TableName, in.IndexName); err != nil {
		return nil, err
	}
	out, err := e.store.Query(context.Background(), in)
	if err != nil {
		return nil, err
	}
	return page(out.Items, out.LastEvaluatedKey), nil
}

func (e *Engine) scan(in *server.ScanInput) (any, error) {
	err := refuseLegacy(map[string]bool{
		"AttributesToGet": in.AttributesToGet != nil,
		"ScanFilter":      in.ScanFilter != nil,
	})
	if err != nil {
		return nil, err
	}
	defer e.lock(false)()
	if err := e.resolveIndexLocked(&in.TableName, in.IndexName); err != nil {
		return nil, err
	}
	out, err := e.store.Scan(context.Background(), in)
	if err != nil {
		return nil, err
	}
	return page(out.Items, out.LastEvaluatedKey), nil
}

func (e *Engine) resolveIndexLocked(nameOrARN **string, index *string) error {
	t, err := e.resolveLocked(nameOrARN)
	if err != nil {
		return err
	}
	if index != nil && !t.indexes[*index] {
		return invalid("The table does not have the specified index: %s", aws.ToString(index))
	}
	return nil
}

// page answers Query and Scan. Alternator sends Items, Count and ScannedCount
// even when there are none; minidyn drops them, and does not count what it
// scanned.
func page(items []attributes, last attributes) answer {
	out := answer{"Items": wireItems(items), "Count": len(items), "ScannedCount": len(items)}
	if len(last) > 0 {
		out["LastEvaluatedKey"] = wireItem(last)
	}
	return out
}
