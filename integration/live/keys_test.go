package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/middleware"
)

// Whatever writes an item, and whatever the type of its key, it is written
// through the same node.
func TestSingleWritesAndBatchesMeet(t *testing.T) {
	texts := []types.AttributeValue{str("a"), str("Ærøskøbing 東京"), str(strings.Repeat("long ", 200))}
	numbers := []types.AttributeValue{num("0"), num("-1"), num("3.14159"), num("12345678901234567890123456789012345678")}
	binaries := []types.AttributeValue{bin("\x00"), bin("\xff\xfe"), bin("text")}
	for i := range 10 {
		texts = append(texts, str(fmt.Sprint("customer-", i)))
		numbers = append(numbers, num(fmt.Sprint(1000+i)))
		binaries = append(binaries, bin(string([]byte{byte(i), 0x80, byte(i)})))
	}
	for keyType, keys := range map[types.ScalarAttributeType][]types.AttributeValue{
		types.ScalarAttributeTypeS: texts,
		types.ScalarAttributeTypeN: numbers,
		types.ScalarAttributeTypeB: binaries,
	} {
		t.Run(string(keyType), func(t *testing.T) {
			s := newSite(t)
			table := s.table(keyType)
			r := s.route(middleware.AnyWrite, known(table))
			for _, key := range keys {
				r.wantAllThrough(table, key, r.preferred(key))
			}
		})
	}
}

// wantAllThrough writes an item in every way there is, all of which must go
// through one node.
func (r *routed) wantAllThrough(table string, key types.AttributeValue, node string) {
	r.t.Helper()
	decisions := map[string]middleware.Decision{}
	putItem, err := r.PutItem(r.ctx, &dynamodb.PutItemInput{TableName: &table, Item: item{"pk": key, "by": str("put")}})
	r.must(err)
	decisions["PutItem"] = r.decision(putItem.ResultMetadata)
	r.wantItem(table, key, item{"pk": key, "by": str("put")})

	updateItem, err := r.UpdateItem(r.ctx, &dynamodb.UpdateItemInput{
		TableName: &table, Key: item{"pk": key},
		UpdateExpression: aws.String("SET #by = :by"), ExpressionAttributeNames: map[string]string{"#by": "by"},
		ExpressionAttributeValues: item{":by": str("update")},
	})
	r.must(err)
	decisions["UpdateItem"] = r.decision(updateItem.ResultMetadata)
	r.wantItem(table, key, item{"pk": key, "by": str("update")})

	deleteItem, err := r.DeleteItem(r.ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: item{"pk": key}})
	r.must(err)
	decisions["DeleteItem"] = r.decision(deleteItem.ResultMetadata)
	r.wantItem(table, key, nil)

	for operation, d := range decisions {
		if d.Coordinator != node || d.Reason != middleware.ReasonKeyed {
			r.t.Errorf("%v: a %s went to %s, %v, want %s, %v", key, operation, d.Coordinator, d.Reason, node, middleware.ReasonKeyed)
		}
	}
	r.wantVoted(r.batch(table, put(item{"pk": key, "by": str("batch")})), []vote{{node, 1}})
	r.wantItem(table, key, item{"pk": key, "by": str("batch")})
	r.wantVoted(r.batch(table, del(item{"pk": key})), []vote{{node, 1}})
	r.wantItem(table, key, nil)
}
