package live

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/middleware"
)

func TestABatchGoesToTheNodeThatMostOfItPrefers(t *testing.T) {
	s := newSite(t)
	table := s.table(types.ScalarAttributeTypeS)
	r := s.route(middleware.AnyWrite, known(table))
	for _, favourite := range r.nodes {
		var writes []types.WriteRequest
		for _, key := range r.keys(favourite, 3) {
			writes = append(writes, put(item{"pk": key, "data": str("x")}))
		}
		for _, other := range r.nodes {
			if other != favourite {
				writes = append(writes, del(item{"pk": r.keys(other, 1)[0]}))
			}
		}
		votes := r.votes(writes...)
		if votes[0] != (vote{favourite, 3}) || len(votes) != len(r.nodes) {
			t.Fatalf("a batch for %s has the votes %v", favourite, votes)
		}
		r.wantVoted(r.batch(table, writes...), votes)
		slices.Reverse(writes) // their order does not matter
		r.wantVoted(r.batch(table, writes...), votes)
	}
}

func TestEqualVotesGoByAddress(t *testing.T) {
	s := newSite(t)
	table := s.table(types.ScalarAttributeTypeS)
	r := s.route(middleware.AnyWrite, known(table))
	var writes []types.WriteRequest
	for _, node := range slices.Backward(r.nodes) {
		writes = append(writes, put(item{"pk": r.keys(node, 1)[0]}))
	}
	d := r.batch(table, writes...)
	r.wantVoted(d, r.votes(writes...))
	if d.Coordinator != r.nodes[0] {
		t.Errorf("the coordinator is %s, want the first of %v", d.Coordinator, r.nodes)
	}
}

// A hundred writes are what Alternator takes at most by default.
func TestAHundredWritesToTwoTables(t *testing.T) {
	s := newSite(t)
	orders, users := s.table(types.ScalarAttributeTypeS), s.table(types.ScalarAttributeTypeN)
	r := s.route(middleware.AnyWrite, known(orders, users))
	var toOrders, toUsers []types.WriteRequest
	for i := range 60 {
		toOrders = append(toOrders, put(item{"pk": str(fmt.Sprint("order-", i)), "n": num(fmt.Sprint(i))}))
	}
	for i := range 40 {
		toUsers = append(toUsers, put(item{"pk": num(fmt.Sprint(i)), "name": str(fmt.Sprint("user ", i))}))
	}
	d := r.batches(map[string][]types.WriteRequest{orders: toOrders, users: toUsers})
	r.wantVoted(d, r.votes(slices.Concat(toOrders, toUsers)...))
	total := 0
	for _, v := range d.Votes {
		total += v.Count
	}
	if total != 100 {
		t.Errorf("%d votes were counted, want 100", total)
	}
	for table, writes := range map[string][]types.WriteRequest{orders: toOrders, users: toUsers} {
		for _, w := range writes {
			r.wantItem(table, w.PutRequest.Item["pk"], w.PutRequest.Item)
		}
	}
}
