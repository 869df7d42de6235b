package live

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/middleware"
)

// Each mode routes by key what it says.
func TestModes(t *testing.T) {
	s := newSite(t)
	table := s.table(types.ScalarAttributeTypeS)
	r := s.route(middleware.None, known(table))
	key := r.keys(r.nodes[len(r.nodes)-1], 1)[0]
	const none, notRMW, keyed, voted = middleware.ReasonMode, middleware.ReasonNotReadModifyWrite, middleware.ReasonKeyed, middleware.ReasonVoted
	for name, test := range map[string]struct {
		call func() middleware.Decision
		want [3]middleware.Reason // in the modes None, RMW and AnyWrite
	}{
		"put":             {func() middleware.Decision { return r.put(table, key, nil) }, [3]middleware.Reason{none, notRMW, keyed}},
		"conditional put": {func() middleware.Decision { return r.put(table, key, harmless) }, [3]middleware.Reason{none, keyed, keyed}},
		"put that returns the old item": {func() middleware.Decision {
			return r.put(table, key, func(in *dynamodb.PutItemInput) { in.ReturnValues = types.ReturnValueAllOld })
		}, [3]middleware.Reason{none, keyed, keyed}},
		"batch": {func() middleware.Decision { return r.batch(table, put(item{"pk": key})) }, [3]middleware.Reason{none, none, voted}},
		"read": {func() middleware.Decision {
			out, err := r.GetItem(r.ctx, &dynamodb.GetItemInput{TableName: &table, Key: item{"pk": key}})
			r.must(err)
			return r.decision(out.ResultMetadata)
		}, [3]middleware.Reason{middleware.ReasonOperation, middleware.ReasonOperation, middleware.ReasonOperation}},
	} {
		for i, mode := range []middleware.Mode{middleware.None, middleware.RMW, middleware.AnyWrite} {
			r.must(r.plugin.SetMode(mode))
			d := test.call()
			if d.Reason != test.want[i] {
				t.Errorf("in the mode %v a %s is %v, want %v", mode, name, d.Reason, test.want[i])
			}
			if byKey := d.Reason == keyed || d.Reason == voted; byKey && d.Coordinator != r.preferred(key) {
				t.Errorf("in the mode %v a %s went to %s, want %s", mode, name, d.Coordinator, r.preferred(key))
			}
		}
	}
}

func (r *routed) put(table string, key types.AttributeValue, set func(*dynamodb.PutItemInput)) middleware.Decision {
	r.t.Helper()
	in := &dynamodb.PutItemInput{TableName: &table, Item: item{"pk": key}}
	if set != nil {
		set(in)
	}
	out, err := r.PutItem(r.ctx, in)
	r.must(err)
	return r.decision(out.ResultMetadata)
}

// harmless is a condition that always holds.
func harmless(in *dynamodb.PutItemInput) {
	in.ConditionExpression = aws.String("attribute_not_exists(nothing)")
}

// A table can have a mode of its own.
func TestTableModes(t *testing.T) {
	s := newSite(t)
	orders, audit := s.table(types.ScalarAttributeTypeS), s.table(types.ScalarAttributeTypeS)
	r := s.route(middleware.AnyWrite, known(orders, audit), func(o *middleware.Options) {
		o.TableModes = map[string]middleware.Mode{audit: middleware.None}
	})
	key := r.keys(r.nodes[0], 1)[0]
	if d := r.put(audit, key, harmless); d.Reason != middleware.ReasonMode {
		t.Errorf("a write to a table in the mode none is %v", d.Reason)
	}
	d := r.batches(map[string][]types.WriteRequest{orders: {put(item{"pk": key})}, audit: {put(item{"pk": key})}})
	r.wantVoted(d, []vote{{r.nodes[0], 1}})
}
