package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A table is one that the demo writes to.
type table struct {
	name string // in the input
	keys []key  // the partition key, and the sort key if there is one
}

type key struct {
	name string
	kind types.ScalarAttributeType
}

var tables = []*table{
	{name: "orders", keys: []key{{"customer", types.ScalarAttributeTypeS}}},
	{name: "events", keys: []key{{"shop", types.ScalarAttributeTypeN}, {"at", types.ScalarAttributeTypeS}}},
}

// attributes are those of an item or of its key.
type attributes = map[string]types.AttributeValue

func tableOf(name string) *table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

// keyError says which key attribute is wrong, and why.
type keyError struct{ name, reason string }

func (e *keyError) Error() string { return e.name + ": " + e.reason }

// identify returns a text that tells an item from all others, and its partition
// from all others, such as `events shop=3 at="09:30"` and `events shop=3`.
func (t *table) identify(a attributes) (item, partition string, err error) {
	item = t.name
	for i, k := range t.keys {
		value, err := k.text(a)
		if err != nil {
			return "", "", err
		}
		item += " " + k.name + "=" + value
		if i == 0 {
			partition = item
		}
	}
	return item, partition, nil
}

// notKey returns the name of an attribute that is not a key of the table, or
// "" if there is none.
func (t *table) notKey(a attributes) string {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if !slices.ContainsFunc(t.keys, func(k key) bool { return k.name == name }) {
			return name
		}
	}
	return ""
}

// text returns the value of a key attribute as people read it.
func (k key) text(a attributes) (string, error) {
	switch v := a[k.name].(type) {
	case nil:
		return "", &keyError{k.name, "missing, but it is a key of the table"}
	case *types.AttributeValueMemberS:
		if k.kind == types.ScalarAttributeTypeS && v.Value != "" {
			return strconv.Quote(v.Value), nil
		}
		if v.Value == "" {
			return "", &keyError{k.name, "a key must not be empty"}
		}
	case *types.AttributeValueMemberN:
		if k.kind == types.ScalarAttributeTypeN {
			return v.Value, k.checkSpelling(v.Value)
		}
	}
	return "", &keyError{k.name, fmt.Sprintf("must be of type %s, as it is a key of the table", k.kind)}
}

var plainNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]*[1-9])$`)

// checkSpelling refuses numbers that have a plainer spelling. To Alternator
// each spelling is a key of its own, but the cluster may not answer the one
// that was written, so that the item could not be told when it is read back.
func (k key) checkSpelling(number string) error {
	if plainNumber.MatchString(number) {
		return nil
	}
	reason := fmt.Sprintf("a number that is a key must be written without an exponent and needless zeros, is %q", number)
	return &keyError{k.name, reason}
}

// definition is what makes the table under a name. All its writes are
// lightweight transactions, which is what affinity is most useful for.
func (t *table) definition(name string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		Tags:        []types.Tag{{Key: aws.String("system:write_isolation"), Value: aws.String("always")}},
	}
	for i, k := range t.keys {
		kind := types.KeyTypeHash
		if i > 0 {
			kind = types.KeyTypeRange
		}
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(k.name), KeyType: kind})
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(k.name), AttributeType: k.kind})
	}
	return in
}

// matches reports whether a table that is there has the keys of t.
func (t *table) matches(d *types.TableDescription) bool {
	kinds := map[string]types.ScalarAttributeType{}
	for _, a := range d.AttributeDefinitions {
		kinds[aws.ToString(a.AttributeName)] = a.AttributeType
	}
	var there []string
	for _, kind := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange} {
		for _, k := range d.KeySchema {
			if name := aws.ToString(k.AttributeName); k.KeyType == kind {
				there = append(there, name+" "+string(kinds[name]))
			}
		}
	}
	var wanted []string
	for _, k := range t.keys {
		wanted = append(wanted, k.name+" "+string(k.kind))
	}
	return strings.Join(there, ", ") == strings.Join(wanted, ", ")
}
