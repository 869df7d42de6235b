package middleware

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func putsOf(items ...attributes) []types.WriteRequest {
	var writes []types.WriteRequest
	for _, item := range items {
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	}
	return writes
}

// batchOf is a batch of puts to one table.
func batchOf(table string, items ...attributes) *dynamodb.BatchWriteItemInput {
	return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: putsOf(items...)}}
}

const (
	usersARN = "arn:aws:dynamodb:us-east-1:123456789012:table/users"
	logsARN  = "arn:aws:dynamodb:us-east-1:123456789012:table/logs"
)

// A batch has three writes for one node, one for another, and one for a third
// one, each to a table of its own.
func TestTheModesOfTheTablesOfABatch(t *testing.T) {
	ring := ringOf(t, 10)
	orders, users, logs := attributes{"pk": text("user-001")}, attributes{"id": text("user-002")}, attributes{"at": text("user-004")}
	toOrders, toUsers, toLogs := preferredNode(ring, orders["pk"]), preferredNode(ring, users["id"]), preferredNode(ring, logs["at"])
	if toOrders == toUsers || toUsers == toLogs || toOrders == toLogs {
		t.Fatal("the keys were to prefer three nodes")
	}
	in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
		"orders": putsOf(orders, orders, orders),
		usersARN: putsOf(users, users),
		"logs":   putsOf(logs),
	}}
	for _, test := range []struct {
		name   string
		mode   Mode
		tables map[string]Mode
		want   Reason
		asked  []string
		votes  map[int]int // by node
	}{
		{"any_write", AnyWrite, nil, ReasonVoted, []string{usersARN, "logs", "orders"}, map[int]int{toOrders: 3, toUsers: 2, toLogs: 1}},
		{"rmw", RMW, nil, ReasonMode, nil, nil},
		{"none", None, nil, ReasonMode, nil, nil},
		{"one table in none", AnyWrite, map[string]Mode{"orders": None}, ReasonVoted, []string{usersARN, "logs"}, map[int]int{toUsers: 2, toLogs: 1}},
		{"one table in rmw", AnyWrite, map[string]Mode{"orders": RMW}, ReasonVoted, []string{usersARN, "logs"}, map[int]int{toUsers: 2, toLogs: 1}},
		{"a table given as ARN in none", AnyWrite, map[string]Mode{"users": None}, ReasonVoted, []string{"logs", "orders"}, map[int]int{toOrders: 3, toLogs: 1}},
		{"none but one table", None, map[string]Mode{"logs": AnyWrite}, ReasonVoted, []string{"logs"}, map[int]int{toLogs: 1}},
		{"rmw but a table given as ARN", RMW, map[string]Mode{"users": AnyWrite}, ReasonVoted, []string{usersARN}, map[int]int{toUsers: 2}},
		{"every table in none or rmw", AnyWrite, map[string]Mode{"orders": None, "users": RMW, "logs": None}, ReasonMode, nil, nil},
		{"a mode of another table", None, map[string]Mode{"others": AnyWrite}, ReasonMode, nil, nil},
		{"a mode of another table in any_write", AnyWrite, map[string]Mode{"others": None}, ReasonVoted, []string{usersARN, "logs", "orders"}, map[int]int{toOrders: 3, toUsers: 2, toLogs: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			known := newKnownKeys("orders", "pk", "users", "id", "logs", "at")
			r := &router{mode: test.mode, tables: test.tables, schemas: known}
			d := r.decideOn(ring, in)
			if d.Reason != test.want {
				t.Errorf("%v, want %v", d.Reason, test.want)
			}
			known.want(t, test.asked, nil)
			if int(r.hits) != len(test.asked) || r.misses != 0 {
				t.Errorf("%d hits and %d misses, want %d hits", r.hits, r.misses, len(test.asked))
			}
			votes := d.plan.Votes()
			if len(votes) != len(test.votes) {
				t.Errorf("votes %v, want %v", votes, test.votes)
			}
			for _, vote := range votes {
				node, _ := ring.Index(vote.Node.String())
				if test.votes[node] != vote.Count {
					t.Errorf("%d votes for node %d, want %d", vote.Count, node, test.votes[node])
				}
			}
			if ordinary := d.random == 1; ordinary != (test.want == ReasonMode) {
				t.Errorf("%d random numbers", d.random)
			}
		})
	}
}

// A table in a mode without batches is not asked about, and so neither looked
// up nor told to lack its key.
func TestABatchWithoutVotes(t *testing.T) {
	nothing := attributes{"other": text("a")}
	odd := attributes{"pk": &types.AttributeValueMemberBOOL{Value: true}}
	good := attributes{"pk": text("a")}
	for _, test := range []struct {
		name           string
		writes         map[string][]types.WriteRequest
		asked, missing []string
		hits, misses   uint64
	}{
		{"no tables", nil, nil, nil, 0, 0},
		{"no writes", map[string][]types.WriteRequest{"orders": nil}, nil, nil, 0, 0},
		{"an invalid write", map[string][]types.WriteRequest{"orders": {{}}}, nil, nil, 0, 0},
		{"an empty item", map[string][]types.WriteRequest{"orders": putsOf(attributes{})}, nil, nil, 0, 0},
		{"an unknown table", map[string][]types.WriteRequest{"unknown": putsOf(good, good)}, []string{"unknown"}, nil, 0, 1},
		{"no key", map[string][]types.WriteRequest{"orders": putsOf(nothing, nothing)}, []string{"orders"}, []string{"orders.pk"}, 1, 0},
		{"an odd key", map[string][]types.WriteRequest{"orders": putsOf(odd)}, []string{"orders"}, nil, 1, 0},
		{"a table in none", map[string][]types.WriteRequest{"audit": putsOf(good, nothing), "orders": putsOf(odd)}, []string{"orders"}, nil, 1, 0},
		{
			"all of them",
			map[string][]types.WriteRequest{"orders": putsOf(nothing, odd), "unknown": putsOf(good), "audit": putsOf(good), "locks": putsOf(good)},
			[]string{"orders", "unknown"}, []string{"orders.pk"}, 1, 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			known := newKnownKeys("orders", "pk", "audit", "pk", "locks", "pk")
			r := &router{mode: AnyWrite, tables: map[string]Mode{"audit": None, "locks": RMW}, schemas: known}
			d := r.decideOn(ringOf(t, 10), &dynamodb.BatchWriteItemInput{RequestItems: test.writes})
			if d.Reason != ReasonNoVotes || d.random != 1 || d.plan.Votes() != nil || d.plan.Len() != 10 {
				t.Errorf("%v, %d random numbers, votes %v, a plan of %d", d.Reason, d.random, d.plan.Votes(), d.plan.Len())
			}
			known.want(t, test.asked, test.missing)
			if r.hits != test.hits || r.misses != test.misses {
				t.Errorf("%d hits and %d misses, want %d and %d", r.hits, r.misses, test.hits, test.misses)
			}
		})
	}
}

func TestTheModeOfTheTableOfASingleWrite(t *testing.T) {
	ring := ringOf(t, 10)
	tables := map[string]Mode{"orders": AnyWrite, "locks": RMW, "logs": None}
	key := attributes{"pk": text("user-001")}
	for _, test := range []struct {
		table                   string
		mode                    Mode
		plain, readsBeforeWrite Reason
	}{
		{"orders", None, ReasonKeyed, ReasonKeyed},
		{"locks", None, ReasonNotReadModifyWrite, ReasonKeyed},
		{"locks", AnyWrite, ReasonNotReadModifyWrite, ReasonKeyed},
		{"logs", AnyWrite, ReasonMode, ReasonMode},
		{logsARN, AnyWrite, ReasonMode, ReasonMode},
		{"arn:aws:dynamodb:us-east-1:123456789012:table/orders", None, ReasonKeyed, ReasonKeyed},
		{"users", None, ReasonMode, ReasonMode},
		{"users", RMW, ReasonNotReadModifyWrite, ReasonKeyed},
		{usersARN, AnyWrite, ReasonKeyed, ReasonKeyed},
	} {
		r := &router{mode: test.mode, tables: tables, schemas: newKnownKeys("orders", "pk", "locks", "pk", "logs", "pk", "users", "pk")}
		plain := putInto(test.table, key)
		if got := r.decideOn(ring, plain).Reason; got != test.plain {
			t.Errorf("a plain put to %s in mode %v: %v, want %v", test.table, test.mode, got, test.plain)
		}
		if got := r.decideOn(ring, conditional(plain)).Reason; got != test.readsBeforeWrite {
			t.Errorf("a conditional put to %s in mode %v: %v, want %v", test.table, test.mode, got, test.readsBeforeWrite)
		}
	}
}
