package engine

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/server"
)

// table is what the engine remembers of a table beside minidyn's items.
// Guarded by Engine.mu.
type table struct {
	name      string
	id        string // a new one whenever a table is made
	created   time.Time
	key       []keyAttribute // HASH first, then RANGE
	defined   []types.AttributeDefinition
	indexes   map[string]bool
	onDemand  bool
	provision *types.ProvisionedThroughput
}

type keyAttribute struct {
	name string
	kind types.ScalarAttributeType
}

// tableName reduces a table's ARN to the name in it; other names are returned
// as they are.
func tableName(nameOrARN string) string {
	if !strings.HasPrefix(nameOrARN, "arn:") {
		return nameOrARN
	}
	_, resource, ok := strings.Cut(nameOrARN, ":table/")
	if !ok {
		return nameOrARN
	}
	name, _, _ := strings.Cut(resource, "/")
	return name
}

// resolveLocked finds a table by its name or ARN, and replaces the one by the
// other, which is all that minidyn knows.
func (e *Engine) resolveLocked(nameOrARN **string) (*table, error) {
	t, err := e.tableLocked(aws.ToString(*nameOrARN))
	if err != nil {
		return nil, err
	}
	*nameOrARN = &t.name
	return t, nil
}

func (e *Engine) tableLocked(nameOrARN string) (*table, error) {
	name := tableName(nameOrARN)
	t, ok := e.tables[name]
	if !ok {
		return nil, &Error{
			Type:    ResourceNotFound,
			Message: "Requested resource not found: Table: " + name + " not found",
		}
	}
	return t, nil
}

// identity is a string that two maps of attributes share if and only if they
// have the same key in this table.
func (t *table) identity(attributes map[string]*server.AttributeValue) (string, error) {
	var b strings.Builder
	for _, k := range t.key {
		v := attributes[k.name]
		if v == nil {
			return "", invalid("One or more parameter values were invalid: Missing the key %s in the item", k.name)
		}
		text, err := k.text(v)
		if err != nil {
			return "", err
		}
		b.WriteString(strings.ReplaceAll(text, "\x00", "\x00\x01"))
		b.WriteString("\x00\x00")
	}
	return b.String(), nil
}

// text is the value of a key attribute as text. Numbers are compared as
// written: "1000" and "1e3" are different keys to Alternator.
func (k keyAttribute) text(v *server.AttributeValue) (string, error) {
	var text string
	var present bool
	switch k.kind {
	case types.ScalarAttributeTypeS:
		text, present = aws.ToString(v.S), v.S != nil
	case types.ScalarAttributeTypeN:
		text, present = aws.ToString(v.N), v.N != nil
	case types.ScalarAttributeTypeB:
		text, present = string(v.B), v.B != nil
	}
	if !present {
		return "", invalid("One or more parameter values were invalid: Type mismatch for key %s, expected: %s", k.name, k.kind)
	}
	if text == "" {
		return "", invalid("One or more parameter values were invalid: "+
			"The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", k.name)
	}
	return text, nil
}
