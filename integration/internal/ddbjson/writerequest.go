package ddbjson

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// WriteRequest reads one write of a BatchWriteItem, a PutRequest or a
// DeleteRequest:
//
//	{"DeleteRequest": {"Key": {"customer": {"S": "c-17"}}}}
func WriteRequest(raw json.RawMessage) (types.WriteRequest, error) {
	if err := check(raw); err != nil {
		return types.WriteRequest{}, err
	}
	fields, err := members(raw, "")
	if err != nil {
		return types.WriteRequest{}, err
	}
	return writeOf(fields, "")
}

// TableWrite reads one write with the name of its table beside it, as in files
// that hold one write per line:
//
//	{"table": "orders", "DeleteRequest": {"Key": {"customer": {"S": "c-17"}}}}
func TableWrite(raw json.RawMessage) (table string, request types.WriteRequest, err error) {
	if err := check(raw); err != nil {
		return "", request, err
	}
	fields, err := members(raw, "")
	if err != nil {
		return "", request, err
	}
	var rest []member
	named := false
	for _, f := range fields {
		if f.name != "table" {
			rest = append(rest, f)
			continue
		}
		named = true
		if table, err = text(f.value, "", "table"); err != nil {
			return "", request, err
		}
	}
	if !named {
		return "", request, path("table").errorf("missing")
	}
	request, err = writeOf(rest, "")
	return table, request, err
}

// RequestItems reads the RequestItems of a BatchWriteItem, the writes of each
// table:
//
//	{"orders": [{"DeleteRequest": {"Key": {"customer": {"S": "c-17"}}}}]}
func RequestItems(raw json.RawMessage) (map[string][]types.WriteRequest, error) {
	return requestItems(raw, writeOf)
}

// AnyRequestItems is RequestItems for programs that tell for themselves what is
// wrong with a write: it also takes those that have both or none of PutRequest
// and DeleteRequest.
func AnyRequestItems(raw json.RawMessage) (map[string][]types.WriteRequest, error) {
	return requestItems(raw, anyWriteOf)
}

// requestItems reads the writes of each table, of whose fields write makes one.
func requestItems(raw json.RawMessage, write func([]member, path) (types.WriteRequest, error)) (map[string][]types.WriteRequest, error) {
	if err := check(raw); err != nil {
		return nil, err
	}
	tables, err := members(raw, "")
	if err != nil {
		return nil, err
	}
	all := make(map[string][]types.WriteRequest, len(tables))
	for _, table := range tables {
		at := path("").field(table.name)
		contents, err := elements(table.value, "", at)
		if err != nil {
			return nil, err
		}
		writes := make([]types.WriteRequest, len(contents))
		for i, content := range contents {
			fields, err := members(content, at.index(i))
			if err != nil {
				return nil, err
			}
			if writes[i], err = write(fields, at.index(i)); err != nil {
				return nil, err
			}
		}
		all[table.name] = writes
	}
	return all, nil
}

// writeOf makes a write of its fields, exactly one of PutRequest and
// DeleteRequest.
func writeOf(fields []member, at path) (types.WriteRequest, error) {
	w, err := anyWriteOf(fields, at)
	switch {
	case err != nil:
		return w, err
	case w.PutRequest == nil && w.DeleteRequest == nil:
		return w, at.errorf("must have a PutRequest or a DeleteRequest")
	case w.PutRequest != nil && w.DeleteRequest != nil:
		return types.WriteRequest{}, at.errorf("must not have both a PutRequest and a DeleteRequest")
	}
	return w, nil
}

// anyWriteOf makes a write of its fields, any of PutRequest and DeleteRequest.
func anyWriteOf(fields []member, at path) (types.WriteRequest, error) {
	var w types.WriteRequest
	for _, f := range fields {
		var err error
		switch f.name {
		case "PutRequest":
			w.PutRequest = &types.PutRequest{}
			w.PutRequest.Item, err = only("Item", f.value, at.field(f.name))
		case "DeleteRequest":
			w.DeleteRequest = &types.DeleteRequest{}
			w.DeleteRequest.Key, err = only("Key", f.value, at.field(f.name))
		default:
			err = at.field(f.name).errorf("unknown field")
		}
		if err != nil {
			return types.WriteRequest{}, err
		}
	}
	return w, nil
}

// only reads the attributes in an object whose only field has a name.
func only(name string, raw json.RawMessage, at path) (map[string]types.AttributeValue, error) {
	fields, err := members(raw, at)
	if err != nil {
		return nil, err
	}
	var content json.RawMessage
	for _, f := range fields {
		if f.name != name {
			return nil, at.field(f.name).errorf("unknown field")
		}
		content = f.value
	}
	if content == nil {
		return nil, at.field(name).errorf("missing")
	}
	return attributes(content, at.field(name), maxNesting)
}
