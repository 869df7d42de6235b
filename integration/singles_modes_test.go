package integration

import (
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// readingWrites read the item before they write it, each for another reason;
// unreadingWrites do not.
var (
	readingWrites = map[string]keyedWrite{
		"a put with a condition": conditionalPut,
		"a put with Expected": putWith(func(in *dynamodb.PutItemInput) {
			in.Expected = map[string]types.ExpectedAttributeValue{"nothing": {Exists: aws.Bool(false)}}
		}),
		"a put that returns ALL_OLD":   putWith(func(in *dynamodb.PutItemInput) { in.ReturnValues = types.ReturnValueAllOld }),
		"an update with an expression": updateOne,
		"an update with a condition": updateWith(func(in *dynamodb.UpdateItemInput) {
			in.ConditionExpression = aws.String("attribute_not_exists(nothing)")
		}),
		"an update with Expected": updateWith(func(in *dynamodb.UpdateItemInput) {
			in.Expected = map[string]types.ExpectedAttributeValue{"nothing": {Exists: aws.Bool(false)}}
		}),
		"an update that returns UPDATED_OLD": updateWith(func(in *dynamodb.UpdateItemInput) { in.ReturnValues = types.ReturnValueUpdatedOld }),
		"an update that returns ALL_NEW":     updateWith(func(in *dynamodb.UpdateItemInput) { in.ReturnValues = types.ReturnValueAllNew }),
		"a legacy ADD":                       legacyUpdate(types.AttributeActionAdd, num("1")),
		"a legacy DELETE of a value":         legacyUpdate(types.AttributeActionDelete, &types.AttributeValueMemberSS{Value: []string{"a"}}),
		"a delete that returns ALL_OLD":      deleteWith(func(in *dynamodb.DeleteItemInput) { in.ReturnValues = types.ReturnValueAllOld }),
		"a delete with a condition": deleteWith(func(in *dynamodb.DeleteItemInput) {
			in.ConditionExpression = aws.String("attribute_not_exists(nothing)")
		}),
	}
	unreadingWrites = map[string]keyedWrite{
		"a put":                              putOne,
		"a put that returns NONE":            putWith(func(in *dynamodb.PutItemInput) { in.ReturnValues = types.ReturnValueNone }),
		"a delete":                           deleteOne,
		"an update of nothing":               updateWith(func(*dynamodb.UpdateItemInput) {}),
		"an update that returns UPDATED_NEW": updateWith(func(in *dynamodb.UpdateItemInput) { in.ReturnValues = types.ReturnValueUpdatedNew }),
		"a legacy PUT":                       legacyUpdate(types.AttributeActionPut, num("1")),
		"a legacy DELETE of the attribute":   legacyUpdate(types.AttributeActionDelete, nil),
	}
)

// legacyUpdate updates an attribute of the action's own, so that no other
// action gets in its way.
func legacyUpdate(action types.AttributeAction, value types.AttributeValue) keyedWrite {
	return updateWith(func(in *dynamodb.UpdateItemInput) {
		in.AttributeUpdates = map[string]types.AttributeValueUpdate{"v-" + string(action): {Action: action, Value: value}}
	})
}

func TestTheModeDecidesWhichSingleWritesAreRouted(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	v := newVoter(t, c)
	for _, test := range []struct {
		mode                      middleware.Mode
		reading, unreading, batch middleware.Reason
	}{
		{middleware.None, middleware.ReasonMode, middleware.ReasonMode, middleware.ReasonMode},
		{middleware.RMW, middleware.ReasonKeyed, middleware.ReasonNotReadModifyWrite, middleware.ReasonMode},
		{middleware.AnyWrite, middleware.ReasonKeyed, middleware.ReasonKeyed, middleware.ReasonVoted},
	} {
		client := attach(t, c, newPlugin(t, c, mode(test.mode), keys("orders", "pk")))
		check := func(name string, write keyedWrite, want middleware.Reason) {
			t.Run(test.mode.String()+", "+name, func(t *testing.T) {
				d := write.write(t, client, "orders", item{"pk": v.key(2)})
				if d.Reason != want || d.Mode != test.mode {
					t.Errorf("%v in mode %v, want %v", d.Reason, d.Mode, want)
				}
				routed := want == middleware.ReasonKeyed || want == middleware.ReasonVoted
				if routed && d.Coordinator != c.Node(2).URL() {
					t.Errorf("coordinator %s, want node 2", d.Coordinator)
				}
			})
		}
		for name, write := range readingWrites {
			check(name, write, test.reading)
		}
		for name, write := range unreadingWrites {
			check(name, write, test.unreading)
		}
		check("a batch", batchOne, test.batch)
	}
}

// A write that is not routed by its key goes to any node, though it always has
// the same key.
func TestSingleWritesWithoutAffinityAreSpread(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	for m, list := range map[middleware.Mode][]keyedWrite{
		middleware.None: {putOne, updateOne, deleteOne},
		middleware.RMW:  {putOne, deleteOne},
	} {
		client := attach(t, c, newPlugin(t, c, mode(m), keys("orders", "pk")))
		for _, write := range list {
			c.ResetCounts()
			for range spreadCalls {
				write.write(t, client, "orders", item{"pk": str("one")})
			}
			checkSpread(t, c, write.operation)
		}
	}
}

// The plugin is closed before requests are counted, so that no lookup is still
// on its way.
func TestWithoutAffinityNothingIsLookedUp(t *testing.T) {
	for name, test := range map[string]struct {
		mode   middleware.Mode
		tables map[string]middleware.Mode
		writes []keyedWrite
	}{
		"none": {middleware.None, nil, slices.Concat(
			slices.Collect(maps.Values(readingWrites)), slices.Collect(maps.Values(unreadingWrites)), []keyedWrite{batchOne})},
		"rmw": {middleware.RMW, nil, append(slices.Collect(maps.Values(unreadingWrites)), batchOne)},
		"any_write, but none for the table": {middleware.AnyWrite, map[string]middleware.Mode{"orders": middleware.None}, []keyedWrite{
			putOne, conditionalPut, updateOne, deleteOne, batchOne}},
		"any_write, but rmw for the table": {middleware.AnyWrite, map[string]middleware.Mode{"orders": middleware.RMW}, []keyedWrite{
			putOne, deleteOne, batchOne}},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster.New(t, nodes(3))
			createTable(t, c, "orders", "pk", "S")
			p := newPlugin(t, c, mode(test.mode), func(o *middleware.Options) { o.TableModes = test.tables })
			client := attach(t, c, p)
			for _, write := range test.writes {
				if d := write.write(t, client, "orders", item{"pk": str("a")}); d.Reason == middleware.ReasonKeyed || d.Reason == middleware.ReasonVoted {
					t.Errorf("%s was routed: %v", write.operation, d.Reason)
				}
			}
			closePlugin(t, p)
			if got := c.Count("DescribeTable"); got != 0 {
				t.Errorf("%d DescribeTable were sent, want none", got)
			}
			if s := p.Stats(); s.Schemas.Lookups != 0 || s.SchemaHits != 0 || s.SchemaMisses != 0 {
				t.Errorf("%+v with %d hits and %d misses, want none", s.Schemas, s.SchemaHits, s.SchemaMisses)
			}
		})
	}
}

// The first write of a table is spread, and has its key looked up in the
// background; further ones meet.
func TestTheFirstSingleWriteOfATableHasItsKeyLookedUp(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, mode(middleware.RMW))
	client := attach(t, c, p)
	key := item{"pk": newVoter(t, c).key(1)}
	if d := conditionalPut.write(t, client, "orders", key); d.Reason != middleware.ReasonUnknownSchema {
		t.Errorf("%v, want %v", d.Reason, middleware.ReasonUnknownSchema)
	}
	eventually(t, "the table is described", func() bool { return p.Stats().Schemas.Size == 1 })
	for _, write := range []keyedWrite{conditionalPut, updateOne} {
		if d := write.write(t, client, "orders", key); d.Reason != middleware.ReasonKeyed || d.Coordinator != c.Node(1).URL() {
			t.Errorf("%v to %s, want %v to node 1", d.Reason, d.Coordinator, middleware.ReasonKeyed)
		}
	}
	if got := c.Count("DescribeTable"); got != 1 {
		t.Errorf("%d DescribeTable were sent, want 1", got)
	}
}
