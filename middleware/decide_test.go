package middleware

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func putInto(table string, item attributes) *dynamodb.PutItemInput {
	return &dynamodb.PutItemInput{TableName: &table, Item: item}
}

// decided is what became of an input.
type decided struct {
	Reason
	plan   resolver.Plan
	random int // how many random numbers it took
}

func (r *router) decideOn(ring *resolver.Ring, input any) *decided {
	d := &decided{}
	d.Reason = r.decide(&d.plan, ring, input, func() uint64 {
		d.random++
		return 1
	})
	return d
}

func TestOnlyWritesHaveAffinity(t *testing.T) {
	ring, table := ringOf(t, 10), aws.String("orders")
	key := attributes{"pk": text("user-001")}
	for _, input := range []any{
		nil,
		&dynamodb.GetItemInput{TableName: table, Key: key},
		&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"orders": {Keys: []map[string]types.AttributeValue{key}}}},
		&dynamodb.QueryInput{TableName: table},
		&dynamodb.ScanInput{TableName: table},
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: table, Item: key}}}},
		&dynamodb.TransactGetItemsInput{},
		&dynamodb.ExecuteStatementInput{Statement: aws.String(`DELETE FROM "orders" WHERE pk = 'user-001'`)},
		&dynamodb.BatchExecuteStatementInput{},
		&dynamodb.ExecuteTransactionInput{},
		&dynamodb.CreateTableInput{TableName: table},
		&dynamodb.DescribeTableInput{TableName: table},
		&dynamodb.UpdateTableInput{TableName: table},
		&dynamodb.DeleteTableInput{TableName: table},
		&dynamodb.ListTablesInput{},
		(*dynamodb.PutItemInput)(nil),
		(*dynamodb.UpdateItemInput)(nil),
		(*dynamodb.DeleteItemInput)(nil),
		(*dynamodb.BatchWriteItemInput)(nil),
		dynamodb.PutItemInput{TableName: table, Item: key}, // the SDK passes pointers
	} {
		for _, mode := range writeModes {
			r := &router{mode: mode, schemas: newKnownKeys("orders", "pk")}
			d := r.decideOn(ring, input)
			if d.Reason != ReasonOperation || d.random != 1 || d.plan.Votes() != nil || d.plan.Len() != 10 {
				t.Errorf("%T in mode %v: %v, %d random numbers, votes %v, a plan of %d",
					input, mode, d.Reason, d.random, d.plan.Votes(), d.plan.Len())
			}
			r.schemas.(*knownKeys).want(t, nil, nil)
		}
	}
}

func TestWithoutNodesThereIsNothingToDecide(t *testing.T) {
	for _, input := range []any{
		nil,
		&dynamodb.GetItemInput{},
		putInto("orders", attributes{"pk": text("a")}),
		batchOf("orders", attributes{"pk": text("a")}),
	} {
		known := newKnownKeys("orders", "pk")
		r := &router{mode: AnyWrite, schemas: known}
		d := r.decideOn(emptyRing, input)
		if d.Reason != ReasonNoNodes || d.plan.Len() != 0 || d.plan.Votes() != nil || d.random != 0 {
			t.Errorf("%T: %v, a plan of %d, votes %v, %d random numbers", input, d.Reason, d.plan.Len(), d.plan.Votes(), d.random)
		}
		known.want(t, nil, nil)
	}
}

// Where the key of each operation is looked for, and what becomes of one that
// cannot be used.
func TestTheKeyOfASingleWrite(t *testing.T) {
	ring, good := ringOf(t, 10), text("user-001")
	for name, test := range map[string]struct {
		value   types.AttributeValue
		present bool
		want    Reason
	}{
		"S":       {good, true, ReasonKeyed},
		"empty S": {text(""), true, ReasonKeyed},
		"N":       {&types.AttributeValueMemberN{Value: "1e0"}, true, ReasonKeyed},
		"B":       {&types.AttributeValueMemberB{Value: []byte{1}}, true, ReasonKeyed},
		"empty B": {&types.AttributeValueMemberB{}, true, ReasonKeyed},
		"missing": {nil, false, ReasonNoKey},
		"nil":     {nil, true, ReasonBadKey},
		"nil S":   {(*types.AttributeValueMemberS)(nil), true, ReasonBadKey},
		"nil N":   {(*types.AttributeValueMemberN)(nil), true, ReasonBadKey},
		"nil B":   {(*types.AttributeValueMemberB)(nil), true, ReasonBadKey},
		"BOOL":    {&types.AttributeValueMemberBOOL{Value: true}, true, ReasonBadKey},
		"NULL":    {&types.AttributeValueMemberNULL{Value: true}, true, ReasonBadKey},
		"SS":      {someStrings, true, ReasonBadKey},
		"NS":      {&types.AttributeValueMemberNS{Value: []string{"1"}}, true, ReasonBadKey},
		"BS":      {&types.AttributeValueMemberBS{Value: [][]byte{{1}}}, true, ReasonBadKey},
		"L":       {&types.AttributeValueMemberL{Value: []types.AttributeValue{good}}, true, ReasonBadKey},
		"M":       {&types.AttributeValueMemberM{Value: attributes{"pk": good}}, true, ReasonBadKey},
		"unknown": {&types.UnknownUnionMember{Tag: "X"}, true, ReasonBadKey},
	} {
		given := attributes{"PK": good, "sk": good}
		if test.present {
			given["pk"] = test.value
		}
		for _, input := range []any{
			putInto("orders", given),
			&dynamodb.UpdateItemInput{TableName: aws.String("orders"), Key: given},
			&dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: given},
		} {
			known := newKnownKeys("orders", "pk")
			r := &router{mode: AnyWrite, schemas: known}
			d := r.decideOn(ring, input)
			if d.Reason != test.want {
				t.Errorf("%T whose key is %s: %v, want %v", input, name, d.Reason, test.want)
			}
			if test.want == ReasonKeyed {
				if want := preferredNode(ring, test.value); d.plan.At(0) != want || d.random != 0 {
					t.Errorf("%T whose key is %s: sent to node %d after %d random numbers, want %d after none", input, name, d.plan.At(0), d.random, want)
				}
			} else if d.random != 1 || d.plan.Len() != 10 {
				t.Errorf("%T whose key is %s: %d random numbers, a plan of %d", input, name, d.random, d.plan.Len())
			}
			var missing []string
			if !test.present {
				missing = []string{"orders.pk"}
			}
			known.want(t, []string{"orders"}, missing)
			if r.hits != 1 || r.misses != 0 {
				t.Errorf("%T whose key is %s: %d hits and %d misses", input, name, r.hits, r.misses)
			}
		}
	}
}

// A write without any attribute says nothing about the table.
func TestAWriteWithoutAttributesHasNoKey(t *testing.T) {
	for _, given := range []attributes{nil, {}} {
		known := newKnownKeys("orders", "pk")
		r := &router{mode: AnyWrite, schemas: known}
		if d := r.decideOn(ringOf(t, 3), putInto("orders", given)); d.Reason != ReasonNoKey {
			t.Errorf("%v: %v, want %v", given, d.Reason, ReasonNoKey)
		}
		known.want(t, []string{"orders"}, nil)
	}
}

func TestAnUnknownSchemaIsAMiss(t *testing.T) {
	known := newKnownKeys()
	r := &router{mode: AnyWrite, schemas: known}
	d := r.decideOn(ringOf(t, 3), putInto("orders", attributes{"pk": text("a")}))
	if d.Reason != ReasonUnknownSchema || d.random != 1 || r.hits != 0 || r.misses != 1 {
		t.Errorf("%v after %d random numbers, %d hits, %d misses", d.Reason, d.random, r.hits, r.misses)
	}
	known.want(t, []string{"orders"}, nil)
}

// What the mode does not route is not even asked about.
func TestNothingIsAskedWithoutAffinity(t *testing.T) {
	single := putInto("orders", attributes{"pk": text("a")})
	for mode, inputs := range map[Mode][]any{
		None: {single, conditional(single), batchOf("orders", attributes{"pk": text("a")})},
		RMW:  {single, batchOf("orders", attributes{"pk": text("a")})},
	} {
		for _, input := range inputs {
			known := newKnownKeys()
			r := &router{mode: mode, schemas: known}
			r.decideOn(ringOf(t, 3), input)
			known.want(t, nil, nil)
			if r.hits+r.misses != 0 {
				t.Errorf("%T in mode %v: %d hits and %d misses", input, mode, r.hits, r.misses)
			}
		}
	}
}

func conditional(in *dynamodb.PutItemInput) *dynamodb.PutItemInput {
	c := *in
	c.ConditionExpression = aws.String("attribute_not_exists(pk)")
	return &c
}

func TestReasonsAreText(t *testing.T) {
	seen := map[string]bool{}
	for reason := ReasonDisabled; reason <= ReasonNoNodes; reason++ {
		if s := reason.String(); s == "" || seen[s] {
			t.Errorf("reason %d is %q", uint8(reason), s)
		}
		seen[reason.String()] = true
	}
	for reason, want := range map[Reason]string{
		ReasonVoted:              "voted",
		ReasonKeyed:              "keyed",
		ReasonNotReadModifyWrite: "ordinary: not read-modify-write",
		ReasonNoNodes + 1:        fmt.Sprintf("Reason(%d)", uint8(ReasonNoNodes)+1),
	} {
		if reason.String() != want {
			t.Errorf("%q, want %q", reason, want)
		}
	}
}

func TestOptionsRefuseTableModes(t *testing.T) {
	arn := "arn:aws:dynamodb:us-east-1:123456789012:table/orders"
	for want, modes := range map[string]map[string]Mode{
		`keyroute: Options.TableModes: table "" has the mode rmw: a table needs a name and a mode that exists`:           {"": RMW},
		`keyroute: Options.TableModes: table "orders" has the mode Mode(7): a table needs a name and a mode that exists`: {"orders": 7},
		`keyroute: Options.TableModes: table "` + arn + `": must be its name, "orders"`:                                  {arn: RMW},
	} {
		_, err := New(func(o *Options) { o.TableModes = modes })
		if err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", modes, err, want)
		}
	}
	_, err := New(func(o *Options) { o.Mode, o.TableModes = 9, map[string]Mode{"a": 7, "": None} })
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) || len(all.Unwrap()) != 3 {
		t.Errorf("%v, want three errors", err)
	}
}

// The caller's map is not the plugin's.
func TestTableModesAreCopied(t *testing.T) {
	modes := map[string]Mode{"orders": RMW}
	p, err := New(func(o *Options) { o.TableModes = modes })
	if err != nil {
		t.Fatal(err)
	}
	modes["orders"] = None
	if got := p.options.TableModes["orders"]; got != RMW {
		t.Errorf("the mode became %v", got)
	}
}
