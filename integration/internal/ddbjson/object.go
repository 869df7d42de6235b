package ddbjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// check refuses what is not one JSON value in UTF-8, so that everything after
// it can rely on the syntax. encoding/json itself would replace broken UTF-8,
// and thus turn one key into another.
func check(raw json.RawMessage) error {
	if !utf8.Valid(raw) {
		return path("").errorf("not valid UTF-8")
	}
	var whole json.RawMessage
	err := json.Unmarshal(raw, &whole)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return path("").errorf("not JSON: %v at byte %d", syntax, syntax.Offset)
	}
	if err != nil {
		return path("").errorf("not JSON: %v", err)
	}
	return nil
}

// member is one field of an object.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the fields of an object in their own order. A name must not
// be repeated: encoding/json would keep the last one, other readers the first.
func members(raw json.RawMessage, at path) ([]member, error) {
	if kind := kindOf(raw); kind != "an object" {
		return nil, at.errorf("must be an object, is %s", kind)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, at.errorf("not JSON: %v", err)
	}
	var all []member
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		name, _ := token.(string)
		m := member{name: name}
		if err == nil {
			err = d.Decode(&m.value)
		}
		if err != nil {
			return nil, at.errorf("not JSON: %v", err)
		}
		if seen[name] {
			return nil, at.field(name).errorf("repeated field")
		}
		seen[name] = true
		all = append(all, m)
	}
	return all, nil
}

// elements returns the elements of an array.
func elements(raw json.RawMessage, what string, at path) ([]json.RawMessage, error) {
	if kind := kindOf(raw); kind != "an array" {
		return nil, at.errorf("%smust be an array, is %s", what, kind)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, at.errorf("not JSON: %v", err)
	}
	return all, nil
}

// kindOf names the kind of a JSON value by its first character, which is all
// it takes once the syntax was checked.
func kindOf(raw json.RawMessage) string {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	if len(trimmed) == 0 {
		return "missing"
	}
	switch trimmed[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
