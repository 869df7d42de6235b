package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// A keyedWrite is an operation that writes one item, given its key.
type keyedWrite struct {
	operation string
	call      func(ctx context.Context, client *dynamodb.Client, table string, key item, optFns ...func(*dynamodb.Options)) (
		smithymiddleware.Metadata, error)
}

func putWith(set func(*dynamodb.PutItemInput)) keyedWrite {
	return keyedWrite{"PutItem", func(ctx context.Context, client *dynamodb.Client, table string, key item, optFns ...func(*dynamodb.Options)) (
		smithymiddleware.Metadata, error,
	) {
		in := &dynamodb.PutItemInput{TableName: &table, Item: key}
		set(in)
		return metadataOf(client.PutItem(ctx, in, optFns...))
	}}
}

func updateWith(set func(*dynamodb.UpdateItemInput)) keyedWrite {
	return keyedWrite{"UpdateItem", func(ctx context.Context, client *dynamodb.Client, table string, key item, optFns ...func(*dynamodb.Options)) (
		smithymiddleware.Metadata, error,
	) {
		in := &dynamodb.UpdateItemInput{TableName: &table, Key: key}
		set(in)
		return metadataOf(client.UpdateItem(ctx, in, optFns...))
	}}
}

func deleteWith(set func(*dynamodb.DeleteItemInput)) keyedWrite {
	return keyedWrite{"DeleteItem", func(ctx context.Context, client *dynamodb.Client, table string, key item, optFns ...func(*dynamodb.Options)) (
		smithymiddleware.Metadata, error,
	) {
		in := &dynamodb.DeleteItemInput{TableName: &table, Key: key}
		set(in)
		return metadataOf(client.DeleteItem(ctx, in, optFns...))
	}}
}

// The operations that write an item. None of them needs the item to be there.
var (
	putOne         = putWith(func(*dynamodb.PutItemInput) {})
	conditionalPut = putWith(func(in *dynamodb.PutItemInput) {
		in.ConditionExpression = aws.String("attribute_not_exists(nothing)")
	})
	updateOne = updateWith(func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET v = :v"), item{":v": str("x")}
	})
	deleteOne = deleteWith(func(*dynamodb.DeleteItemInput) {})
	batchOne  = keyedWrite{"BatchWriteItem", func(ctx context.Context, client *dynamodb.Client, table string, key item, optFns ...func(*dynamodb.Options)) (
		smithymiddleware.Metadata, error,
	) {
		return metadataOf(client.BatchWriteItem(ctx, batch(writes{table: {put(key)}}), optFns...))
	}}

	singleWrites = []keyedWrite{putOne, updateOne, deleteOne}
)

// write makes a call that must succeed, and tells how it was routed.
func (w keyedWrite) write(t testing.TB, client *dynamodb.Client, table string, key item) middleware.Decision {
	t.Helper()
	metadata, err := w.call(deadline(t), client, table, key)
	if err != nil {
		t.Fatalf("%s: %v", w.operation, err)
	}
	return decision(t, metadata)
}

// metadataOf returns the metadata of an operation's output, each of which has a
// field for it and nothing else in common.
func metadataOf[Output any](out *Output, err error) (smithymiddleware.Metadata, error) {
	if err != nil {
		return smithymiddleware.Metadata{}, err
	}
	return reflect.ValueOf(out).Elem().FieldByName("ResultMetadata").Interface().(smithymiddleware.Metadata), nil
}

// drawn returns the order in which a hash tries n nodes, by the definition of a
// plan in terms of math/rand.
func drawn(hash int64, n int) []int {
	random := rand.New(rand.NewSource(hash))
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	var order []int
	for len(left) > 0 {
		i, last := random.Intn(len(left)), len(left)-1
		order = append(order, left[i])
		left[i] = left[last]
		left = left[:last]
	}
	return order
}

// planOf returns the nodes of a cluster in the order in which a key tries them.
func planOf(t testing.TB, ring *resolver.Ring, key types.AttributeValue) []string {
	t.Helper()
	hash, ok := resolver.Hash(key)
	if !ok {
		t.Fatalf("no hash of %v", key)
	}
	var order []string
	for _, i := range drawn(hash, ring.Len()) {
		order = append(order, ring.Node(i).String())
	}
	return order
}

// wayOfFailing describes how a call fails: by an answer of the server, or by an error
// of the SDK or a panic in it.
func wayOfFailing(t *testing.T, call func() error) (way string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			way = fmt.Sprintf("a panic: %v", p)
		}
	}()
	err := call()
	if err == nil {
		return "no failure"
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Sprintf("an answer: %s: %s", api.ErrorCode(), api.ErrorMessage())
	}
	return "an error: " + err.Error()
}
