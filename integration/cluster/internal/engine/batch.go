package engine

import (
	"context"

	"github.com/truora/minidyn/server"
)

// maxBatchGets is how many keys a BatchGetItem may ask for.
const maxBatchGets = 100

// batchWriteItem checks everything before it writes anything, so that a batch
// that is refused leaves no trace. It always answers that nothing was left
// unprocessed (source: Scylla's alternator docs). The writes run one by one,
// because minidyn takes no batch of more than 25.
func (e *Engine) batchWriteItem(in *server.BatchWriteItemInput) (any, error) {
	total := 0
	for _, writes := range in.RequestItems {
		total += len(writes)
	}
	if total == 0 {
		return nil, invalid("RequestItems must name at least one write")
	}
	if total > e.maxBatchWrites {
		return nil, invalid("Invalid length of BatchWriteItem command: got %d items, maximum is %d "+
			"(from configuration variable alternator_max_items_in_batch_write)", total, e.maxBatchWrites)
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if err := e.checkWritesLocked(in.RequestItems); err != nil {
		return nil, err
	}
	for nameOrARN, writes := range in.RequestItems {
		name := tableName(nameOrARN)
		for _, w := range writes {
			if err := e.writeLocked(name, w); err != nil {
				return nil, err
			}
		}
	}
	return answer{"UnprocessedItems": struct{}{}}, nil
}

// checkWritesLocked refuses unknown tables, malformed writes and two writes of
// one key.
func (e *Engine) checkWritesLocked(items map[string][]server.WriteRequest) error {
	seen := map[[2]string]bool{}
	for nameOrARN, writes := range items {
		t, err := e.tableLocked(nameOrARN)
		if err != nil {
			return err
		}
		for _, w := range writes {
			id, err := t.checkWrite(w)
			if err != nil {
				return err
			}
			if seen[[2]string{t.name, id}] {
				return invalid("Provided list of item keys contains duplicates")
			}
			seen[[2]string{t.name, id}] = true
		}
	}
	return nil
}

// checkWrite returns the identity of the item that a write is about.
func (t *table) checkWrite(w server.WriteRequest) (string, error) {
	switch {
	case (w.PutRequest == nil) == (w.DeleteRequest == nil):
		return "", invalid("A write must be either a PutRequest or a DeleteRequest")
	case w.PutRequest != nil:
		return t.identity(w.PutRequest.Item)
	case len(w.DeleteRequest.Key) != len(t.key):
		return "", invalid("The provided key element does not match the schema")
	}
	return t.identity(w.DeleteRequest.Key)
}

func (e *Engine) writeLocked(table string, w server.WriteRequest) error {
	if w.PutRequest != nil {
		_, err := e.store.PutItem(context.Background(), &server.PutItemInput{TableName: &table, Item: w.PutRequest.Item})
		return err
	}
	_, err := e.store.DeleteItem(context.Background(), &server.DeleteItemInput{TableName: &table, Key: w.DeleteRequest.Key})
	return err
}

// batchGetItem answers under the names that the request used.
func (e *Engine) batchGetItem(in *server.BatchGetItemInput) (any, error) {
	total := 0
	for _, gets := range in.RequestItems {
		total += len(gets.Keys)
	}
	if total == 0 {
		return nil, invalid("RequestItems must name at least one key")
	}
	if total > maxBatchGets {
		return nil, invalid("Too many items requested for the BatchGetItem call: %d, maximum is %d", total, maxBatchGets)
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	responses := make(map[string][]map[string]*value, len(in.RequestItems))
	for name, gets := range in.RequestItems {
		items, err := e.getAllLocked(name, gets)
		if err != nil {
			return nil, err
		}
		responses[name] = wireItems(items)
	}
	return answer{"Responses": responses, "UnprocessedKeys": struct{}{}}, nil
}

func (e *Engine) getAllLocked(nameOrARN string, gets server.KeysAndAttributes) ([]attributes, error) {
	var found []attributes
	table := &nameOrARN
	for _, key := range gets.Keys {
		if _, err := e.resolveKeyLocked(&table, key); err != nil {
			return nil, err
		}
		out, err := e.store.GetItem(context.Background(), &server.GetItemInput{
			TableName:                table,
			Key:                      key,
			ExpressionAttributeNames: gets.ExpressionAttributeNames,
			ProjectionExpression:     gets.ProjectionExpression,
		})
		if err != nil {
			return nil, err
		}
		if len(out.Item) > 0 {
			found = append(found, out.Item)
		}
	}
	return found, nil
}
