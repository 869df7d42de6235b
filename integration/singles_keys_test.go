package integration

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// Keys that no server takes. The reason is that of the plugin.
var oddKeys = map[string]struct {
	key    item
	reason middleware.Reason
}{
	"nil":     {item{"pk": nil}, middleware.ReasonBadKey},
	"BOOL":    {item{"pk": &types.AttributeValueMemberBOOL{Value: true}}, middleware.ReasonBadKey},
	"NULL":    {item{"pk": &types.AttributeValueMemberNULL{Value: true}}, middleware.ReasonBadKey},
	"SS":      {item{"pk": &types.AttributeValueMemberSS{Value: []string{"a"}}}, middleware.ReasonBadKey},
	"M":       {item{"pk": &types.AttributeValueMemberM{Value: item{"pk": str("a")}}}, middleware.ReasonBadKey},
	"unknown": {item{"pk": &types.UnknownUnionMember{Tag: "X"}}, middleware.ReasonBadKey},
	"missing": {item{"id": str("a")}, middleware.ReasonNoKey},
	"no key":  {item{}, middleware.ReasonNoKey},
	// These are keys, though not of this table.
	"another type": {item{"pk": num("1")}, middleware.ReasonKeyed},
	"empty":        {item{"pk": str("")}, middleware.ReasonKeyed},
}

// An error has no metadata, so the reason is told by what the plugin counts.
func TestASingleWriteWithAnOddKeyFailsAsWithoutThePlugin(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	bare := c.Client()
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	client := attach(t, c, p)
	for name, odd := range oddKeys {
		for _, write := range singleWrites {
			t.Run(write.operation+", "+name, func(t *testing.T) {
				fail := func(client *dynamodb.Client) string {
					return wayOfFailing(t, func() error {
						_, err := write.call(deadline(t), client, "orders", odd.key)
						return err
					})
				}
				want := fail(bare)
				c.ResetCounts()
				before := p.Stats().Requests[odd.reason]
				if got := fail(client); got != want || got == "no failure" {
					t.Errorf("it failed with\n%s, without the plugin with\n%s", got, want)
				}
				if got := p.Stats().Requests[odd.reason] - before; got != 1 {
					t.Errorf("%d requests were %v, want this one", got, odd.reason)
				}
				if got := c.Count(write.operation); got != 1 {
					t.Errorf("%d requests were sent, want 1", got)
				}
			})
		}
	}
}

// The error names its node, and unwraps to the server's own.
func TestTheErrorOfASingleWriteNamesTheCoordinator(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk")))
	key := item{"pk": newVoter(t, c).key(2), "sk": str("too much")}
	_, err := deleteOne.call(deadline(t), client, "orders", key)
	if e := coordinatorError(t, err); e.Coordinator != c.Node(2).URL() || e.Attempt != 1 {
		t.Errorf("coordinator %s in attempt %d, want node 2 in attempt 1", e.Coordinator, e.Attempt)
	}
	if api := apiError(t, err); api.ErrorCode() != "ValidationException" || api.ErrorMessage() != "The provided key element does not match the schema" {
		t.Errorf("the error is %s: %s", api.ErrorCode(), api.ErrorMessage())
	}
}

// With a typed nil pointer the SDK panics when it serializes the request, as it
// does without the plugin.
func TestATypedNilKeyOfASingleWrite(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	bare := c.Client()
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	client := attach(t, c, p)
	for name, value := range typedNils {
		for _, write := range singleWrites {
			t.Run(write.operation+", "+name, func(t *testing.T) {
				fail := func(client *dynamodb.Client) string {
					return wayOfFailing(t, func() error {
						_, err := write.call(deadline(t), client, "orders", item{"pk": value})
						return err
					})
				}
				if got, want := fail(client), fail(bare); got != want {
					t.Errorf("it failed with\n%s, without the plugin with\n%s", got, want)
				}

				// Routing sees the input, whatever is sent in the end.
				metadata, err := write.call(deadline(t), client, "orders", item{"pk": value}, mendKey(item{"pk": str("a")}))
				if err != nil {
					t.Fatal(err)
				}
				if d := decision(t, metadata); d.Reason != middleware.ReasonBadKey {
					t.Errorf("%v, want %v", d.Reason, middleware.ReasonBadKey)
				}
			})
		}
	}
}

// mendKey is an option for a call that replaces the key after the plugin has
// seen it.
func mendKey(key item) func(*dynamodb.Options) {
	return dynamodb.WithAPIOptions(func(s *smithymiddleware.Stack) error {
		return s.Initialize.Insert(smithymiddleware.InitializeMiddlewareFunc("mendKey",
			func(ctx context.Context, in smithymiddleware.InitializeInput, next smithymiddleware.InitializeHandler) (
				smithymiddleware.InitializeOutput, smithymiddleware.Metadata, error,
			) {
				switch input := in.Parameters.(type) {
				case *dynamodb.PutItemInput:
					mended := *input
					mended.Item, in.Parameters = key, &mended
				case *dynamodb.UpdateItemInput:
					mended := *input
					mended.Key, in.Parameters = key, &mended
				case *dynamodb.DeleteItemInput:
					mended := *input
					mended.Key, in.Parameters = key, &mended
				}
				return next.HandleInitialize(ctx, in)
			}), middleware.InitializeID, smithymiddleware.After)
	})
}
