package live

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/middleware"
)

// wantItem reads an item; nil is for one that must not be there.
func (r *routed) wantItem(table string, key types.AttributeValue, want item) {
	r.t.Helper()
	if got := r.read(table, key); !reflect.DeepEqual(got, want) {
		r.t.Errorf("the item %v is %v, want %v", key, got, want)
	}
}

// Items are written over and over, by batches and by single writes, and are in
// the end what was written last.
func TestWhatIsWrittenIsReadBack(t *testing.T) {
	s := newSite(t)
	table := s.table(types.ScalarAttributeTypeS)
	r := s.route(middleware.AnyWrite, known(table))
	const items = 50
	want := map[string]item{}
	for round := range 6 {
		var writes []types.WriteRequest
		for i := range items {
			name := fmt.Sprint("item-", i)
			i := item{"pk": str(name), "round": num(fmt.Sprint(round)), "data": bin(fmt.Sprint(round, name))}
			switch key := (item{"pk": str(name)}); (round + len(name) + int(name[len(name)-1])) % 4 {
			case 0:
				writes, want[name] = append(writes, put(i)), i
			case 1:
				writes, want[name] = append(writes, del(key)), nil
			case 2:
				_, err := r.PutItem(r.ctx, &dynamodb.PutItemInput{TableName: &table, Item: i})
				r.must(err)
				want[name] = i
			case 3:
				_, err := r.DeleteItem(r.ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key})
				r.must(err)
				want[name] = nil
			}
		}
		r.wantVoted(r.batch(table, writes...), r.votes(writes...))
	}
	left := 0
	for name, i := range want {
		r.wantItem(table, str(name), i)
		if i != nil {
			left++
		}
	}
	if left == 0 || left == items {
		t.Fatalf("of %d items %d are left, which tests nothing", items, left)
	}
	scan, err := r.Scan(r.ctx, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	r.must(err)
	if len(scan.Items) != left {
		t.Errorf("the table holds %d items, want %d", len(scan.Items), left)
	}
}

// Conditional writes to an item meet at its node, whether their condition holds
// or not.
func TestConditionalWrites(t *testing.T) {
	s := newSite(t)
	table := s.table(types.ScalarAttributeTypeS)
	r := s.route(middleware.RMW, known(table))
	node := r.nodes[len(r.nodes)-1]
	key := r.keys(node, 1)[0]
	insert := &dynamodb.PutItemInput{
		TableName: &table, Item: item{"pk": key, "n": num("1")},
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}
	increment := func(from, to string) (*dynamodb.UpdateItemOutput, error) {
		return r.UpdateItem(r.ctx, &dynamodb.UpdateItemInput{
			TableName: &table, Key: item{"pk": key},
			UpdateExpression: aws.String("SET n = :to"), ConditionExpression: aws.String("n = :from"),
			ExpressionAttributeValues: item{":from": num(from), ":to": num(to)},
		})
	}

	inserted, err := r.PutItem(r.ctx, insert)
	r.must(err)
	r.wantKeyed(r.decision(inserted.ResultMetadata), node)
	_, err = r.PutItem(r.ctx, insert)
	r.wantRefused(err, node)
	updated, err := increment("1", "2")
	r.must(err)
	r.wantKeyed(r.decision(updated.ResultMetadata), node)
	_, err = increment("1", "3")
	r.wantRefused(err, node)
	r.wantItem(table, key, item{"pk": key, "n": num("2")})

	remove := func(n string) (*dynamodb.DeleteItemOutput, error) {
		return r.DeleteItem(r.ctx, &dynamodb.DeleteItemInput{
			TableName: &table, Key: item{"pk": key}, ConditionExpression: aws.String("n = :n"),
			ExpressionAttributeValues: item{":n": num(n)},
		})
	}
	_, err = remove("1")
	r.wantRefused(err, node)
	removed, err := remove("2")
	r.must(err)
	r.wantKeyed(r.decision(removed.ResultMetadata), node)
	r.wantItem(table, key, nil)
}

func (r *routed) wantKeyed(d middleware.Decision, node string) {
	r.t.Helper()
	if d.Reason != middleware.ReasonKeyed || d.Coordinator != node {
		r.t.Errorf("sent to %s, %v, want %s, %v", d.Coordinator, d.Reason, node, middleware.ReasonKeyed)
	}
}

// wantRefused checks the error of a write whose condition does not hold.
func (r *routed) wantRefused(err error, node string) {
	r.t.Helper()
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); !ok {
		r.t.Fatalf("a conditional write ended with %v, want ConditionalCheckFailedException", err)
	}
	r.wantCoordinator(err, node)
}
