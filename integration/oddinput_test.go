package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// typedNils are values that are not nil and have nothing in them.
var typedNils = map[string]types.AttributeValue{
	"S":       (*types.AttributeValueMemberS)(nil),
	"N":       (*types.AttributeValueMemberN)(nil),
	"B":       (*types.AttributeValueMemberB)(nil),
	"BOOL":    (*types.AttributeValueMemberBOOL)(nil),
	"M":       (*types.AttributeValueMemberM)(nil),
	"unknown": (*types.UnknownUnionMember)(nil),
}

// What becomes of a batch that makes no sense is for the SDK and the server to
// say. The plugin neither panics nor says it otherwise.
func TestABatchThatMakesNoSenseFailsAsWithoutThePlugin(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	bare := c.Client()
	inputs := map[string]*dynamodb.BatchWriteItemInput{
		"nil input":        nil,
		"nil RequestItems": batch(nil),
		"no RequestItems":  batch(writes{}),
		"nil writes":       batch(writes{"orders": nil}),
		"no writes":        batch(writes{"orders": {}}),
		"no table name":    batch(writes{"": {put(item{"pk": str("a")})}}),
		"a missing table":  batch(writes{"missing": {put(item{"pk": str("a")})}}),
		"nil Item":         batch(writes{"orders": {put(nil)}}),
		"nil Key":          batch(writes{"orders": {del(nil)}}),
		"no Item":          batch(writes{"orders": {put(item{})}}),
		"neither":          batch(writes{"orders": {{}}}),
		"nil value, put":   batch(writes{"orders": {put(item{"pk": nil})}}),
		"nil value, del":   batch(writes{"orders": {del(item{"pk": nil})}}),
		"unknown value":    batch(writes{"orders": {put(item{"pk": &types.UnknownUnionMember{Tag: "X"}})}}),
		"duplicates":       batch(writes{"orders": {put(item{"pk": str("a")}), put(item{"pk": str("a")})}}),
		"too many":         batch(writes{"orders": slices.Repeat([]types.WriteRequest{put(item{"pk": str("a")})}, 101)}),
	}
	for name, value := range typedNils {
		inputs["typed nil "+name+", put"] = batch(writes{"orders": {put(item{"pk": value})}})
		inputs["typed nil "+name+", del"] = batch(writes{"orders": {del(item{"pk": value})}})
	}
	for _, m := range []middleware.Mode{middleware.None, middleware.RMW, middleware.AnyWrite} {
		client := attach(t, c, newPlugin(t, c, mode(m), keys("orders", "pk")))
		for name, in := range inputs {
			t.Run(m.String()+", "+name, func(t *testing.T) {
				want, got := failureOf(t, bare, in), failureOf(t, client, in)
				if got != want {
					t.Errorf("it failed with\n%s, without the plugin with\n%s", got, want)
				}
			})
		}
	}
}

// failureOf describes how a batch fails: with an answer of the server, or with
// an error of the SDK or a panic in it.
func failureOf(t *testing.T, client *dynamodb.Client, in *dynamodb.BatchWriteItemInput) (failure string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			failure = fmt.Sprintf("panic: %v", p)
		}
	}()
	_, err := client.BatchWriteItem(deadline(t), in)
	if err == nil {
		t.Fatal("it succeeded")
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Sprintf("an answer: %s: %s", api.ErrorCode(), api.ErrorMessage())
	}
	return "an error: " + err.Error()
}

// The SDK panics when it serializes a typed nil pointer, so the batch is mended
// after the plugin has seen it.
func TestANilValueHasNoVote(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk")))
	v := newVoter(t, c)
	values := map[string]types.AttributeValue{"nil": nil}
	for name, value := range typedNils {
		values["typed nil "+name] = value
	}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			good := v.puts(2)
			odd := []types.WriteRequest{put(item{"pk": value}), del(item{"pk": value}), put(nil), del(nil)}
			d := send(t, client, batch(writes{"orders": slices.Concat(odd, good)}), sendInstead(batch(writes{"orders": good})))
			if got, want := votesOf(c, d), []vote{{2, 1}}; !slices.Equal(got, want) {
				t.Errorf("votes %v, want %v", got, want)
			}
			if d := send(t, client, batch(writes{"orders": odd}), sendInstead(batch(writes{"orders": good}))); d.Reason != middleware.ReasonNoVotes {
				t.Errorf("alone they are routed with the reason %v, want %v", d.Reason, middleware.ReasonNoVotes)
			}
		})
	}
}

// sendInstead is an option for a call that has another input sent than the one
// that the plugin is given. The validation, which comes first, is left out.
func sendInstead(in *dynamodb.BatchWriteItemInput) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(s *smithymiddleware.Stack) error {
			if _, err := s.Initialize.Remove("OperationInputValidation"); err != nil {
				return err
			}
			return s.Initialize.Insert(smithymiddleware.InitializeMiddlewareFunc("sendInstead",
				func(ctx context.Context, _ smithymiddleware.InitializeInput, next smithymiddleware.InitializeHandler) (
					smithymiddleware.InitializeOutput, smithymiddleware.Metadata, error,
				) {
					return next.HandleInitialize(ctx, smithymiddleware.InitializeInput{Parameters: in})
				}), middleware.InitializeID, smithymiddleware.After)
		})
	}
}
