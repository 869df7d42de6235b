package ddbjson

import (
	"encoding/base64"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// maxNesting is how deep lists and maps may be nested (source: DynamoDB's
// quotas).
const maxNesting = 32

// Item reads the attributes of an item or of a key:
//
//	{"customer": {"S": "c-17"}, "total": {"N": "49.90"}}
func Item(raw json.RawMessage) (map[string]types.AttributeValue, error) {
	if err := check(raw); err != nil {
		return nil, err
	}
	return attributes(raw, "", maxNesting)
}

// attributes reads a map of attributes, whose values may contain further lists
// and maps for as many levels as levels says.
func attributes(raw json.RawMessage, at path, levels int) (map[string]types.AttributeValue, error) {
	fields, err := members(raw, at)
	if err != nil {
		return nil, err
	}
	all := make(map[string]types.AttributeValue, len(fields))
	for _, f := range fields {
		if all[f.name], err = attribute(f.value, at.field(f.name), levels); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// attribute reads one value, an object whose only field is named after its
// type.
func attribute(raw json.RawMessage, at path, levels int) (types.AttributeValue, error) {
	fields, err := members(raw, at)
	if err != nil {
		return nil, err
	}
	if len(fields) != 1 {
		return nil, at.errorf("must have one type, has %d", len(fields))
	}
	kind, content := fields[0].name, fields[0].value
	switch kind {
	case "S":
		s, err := text(content, "S ", at)
		return &types.AttributeValueMemberS{Value: s}, err
	case "N":
		n, err := number(content, "N ", at)
		return &types.AttributeValueMemberN{Value: n}, err
	case "B":
		b, err := binary(content, "B ", at)
		return &types.AttributeValueMemberB{Value: b}, err
	case "BOOL":
		b, err := boolean(content, kind, at)
		return &types.AttributeValueMemberBOOL{Value: b}, err
	case "NULL":
		b, err := boolean(content, kind, at)
		if err == nil && !b {
			err = at.errorf("NULL must be true")
		}
		return &types.AttributeValueMemberNULL{Value: b}, err
	case "SS":
		s, err := set(content, kind, at, text, asWritten)
		return &types.AttributeValueMemberSS{Value: s}, err
	case "NS":
		n, err := set(content, kind, at, number, canonicalOf)
		return &types.AttributeValueMemberNS{Value: n}, err
	case "BS":
		b, err := set(content, kind, at, binary, func(b []byte) string { return string(b) })
		return &types.AttributeValueMemberBS{Value: b}, err
	case "L":
		l, err := list(content, at, levels)
		return &types.AttributeValueMemberL{Value: l}, err
	case "M":
		if levels == 0 {
			return nil, tooDeep(at)
		}
		m, err := attributes(content, at, levels-1)
		return &types.AttributeValueMemberM{Value: m}, err
	}
	return nil, at.errorf("unknown type %q", kind)
}

func tooDeep(at path) error {
	return at.errorf("nested more than %d levels deep", maxNesting)
}

func list(raw json.RawMessage, at path, levels int) ([]types.AttributeValue, error) {
	if levels == 0 {
		return nil, tooDeep(at)
	}
	contents, err := elements(raw, "L ", at)
	if err != nil {
		return nil, err
	}
	all := make([]types.AttributeValue, len(contents))
	for i, content := range contents {
		if all[i], err = attribute(content, at.index(i), levels-1); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// set reads a set of what element reads. Two elements are the same if identity
// makes the same of them.
func set[E any](raw json.RawMessage, kind string, at path,
	element func(json.RawMessage, string, path) (E, error), identity func(E) string,
) ([]E, error) {
	contents, err := elements(raw, kind+" ", at)
	if err != nil {
		return nil, err
	}
	if len(contents) == 0 {
		return nil, at.errorf("%s must not be empty", kind)
	}
	all := make([]E, len(contents))
	seen := make(map[string]bool, len(contents))
	for i, content := range contents {
		if all[i], err = element(content, kind[:1]+" ", at.index(i)); err != nil {
			return nil, err
		}
		id := identity(all[i])
		if seen[id] {
			return nil, at.index(i).errorf("%s holds the same value twice", kind)
		}
		seen[id] = true
	}
	return all, nil
}

func asWritten(s string) string { return s }

// text reads a string. What it is, with a space behind it, begins the error.
func text(raw json.RawMessage, what string, at path) (string, error) {
	if kind := kindOf(raw); kind != "a string" {
		return "", at.errorf("%smust be a string, is %s", what, kind)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", at.errorf("%s%v", what, err)
	}
	return s, nil
}

// number reads a number, which is a string in JSON and keeps its spelling.
func number(raw json.RawMessage, what string, at path) (string, error) {
	s, err := text(raw, what, at)
	if err != nil {
		return "", err
	}
	if _, err := canonicalNumber(s); err != nil {
		return "", at.errorf("%s%v", what, err)
	}
	return s, nil
}

func binary(raw json.RawMessage, what string, at path) ([]byte, error) {
	s, err := text(raw, what, at)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return nil, at.errorf("%sis not base64: %v", what, err)
	}
	return b, nil
}

func boolean(raw json.RawMessage, kind string, at path) (bool, error) {
	if k := kindOf(raw); k != "a boolean" {
		return false, at.errorf("%s must be true or false, is %s", kind, k)
	}
	var b bool
	err := json.Unmarshal(raw, &b)
	return b, err
}
