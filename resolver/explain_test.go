package resolver_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/internal/vectors"
	"github.com/keyroute/keyroute/resolver"
)

// TestExplainAgreesWithTheVote explains each batch vector and counts the votes
// of the explained writes.
func TestExplainAgreesWithTheVote(t *testing.T) {
	for _, v := range vectors.Batches(t) {
		t.Run(v.Name, func(t *testing.T) {
			ring := resolver.NewRing(parse(t, v.Nodes...)...)
			keys := newSchema(v.PartitionKeys)
			e := resolver.Explain(ring, v.RequestItems, keys)

			var order []string
			for _, n := range e.Order {
				order = append(order, n.String())
			}
			if !slices.Equal(order, v.Order) {
				t.Errorf("order %q, want %q", order, v.Order)
			}
			var votes []vectors.Vote
			for _, vote := range e.Votes {
				votes = append(votes, vectors.Vote{Node: vote.Node.String(), Count: vote.Count})
			}
			if !slices.Equal(votes, v.Votes) {
				t.Errorf("votes %v, want %v", votes, v.Votes)
			}
			if got := keys.unknown(); !slices.Equal(got, v.Discover) {
				t.Errorf("tables to look up: %q, want %q", got, v.Discover)
			}

			counts, writes := map[string]int{}, 0
			for _, w := range e.Writes {
				if w.Skipped == "" {
					counts[w.Preferred.String()]++
				}
			}
			for _, vote := range v.Votes {
				if counts[vote.Node] != vote.Count {
					t.Errorf("%d explained votes for %s, want %d", counts[vote.Node], vote.Node, vote.Count)
				}
			}
			for _, requests := range v.RequestItems {
				writes += len(requests)
			}
			if len(counts) != len(v.Votes) || len(e.Writes) != writes {
				t.Errorf("%d explained writes for %d nodes, want %d for %d", len(e.Writes), len(counts), writes, len(v.Votes))
			}
		})
	}
}

func TestExplainSaysWhyAWriteIsSkipped(t *testing.T) {
	good := attributes{"id": text("user-001"), "name": text("x")}
	batch := map[string][]types.WriteRequest{
		"users": {
			put(good),
			{},
			{PutRequest: put(good).PutRequest, DeleteRequest: del(good).DeleteRequest},
			put(attributes{}),
			del(nil),
			put(attributes{"name": text("x")}),
			put(attributes{"id": nil}),
			del(attributes{"id": &types.AttributeValueMemberBOOL{}}),
			del(good),
		},
		"events": {put(good), put(good)},
	}
	want := []struct {
		table    string
		position int
		skipped  string
	}{
		{"events", 0, "the partition key of the table is not known"},
		{"events", 1, "the partition key of the table is not known"},
		{"users", 0, ""},
		{"users", 1, "neither PutRequest nor DeleteRequest is set"},
		{"users", 2, "both PutRequest and DeleteRequest are set"},
		{"users", 3, "the item is empty"},
		{"users", 4, "the key is empty"},
		{"users", 5, "the write lacks the partition key"},
		{"users", 6, "the partition key is not a string, a number or a binary"},
		{"users", 7, "the partition key is not a string, a number or a binary"},
		{"users", 8, ""},
	}
	ring, keys := ringOf(tenNodes), newSchema(usersByID)
	e := resolver.Explain(ring, batch, keys)
	if len(e.Writes) != len(want) {
		t.Fatalf("%d writes, want %d", len(e.Writes), len(want))
	}
	hash, _ := referenceHash(text("user-001"))
	preferred := ring.Node(seededIntn(hash, tenNodes))
	for i, w := range want {
		got := e.Writes[i]
		if got.Table != w.table || got.Position != w.position || got.Skipped != w.skipped {
			t.Errorf("write %d: %s %d skipped %q, want %s %d, %q", i, got.Table, got.Position, got.Skipped, w.table, w.position, w.skipped)
		}
		switch {
		case w.skipped != "" && got.Preferred != nil:
			t.Errorf("write %d: a skipped write votes for %s", i, got.Preferred)
		case w.skipped == "" && (got.Attribute != "id" || got.Key != good["id"] || got.Hash != hash || got.Preferred != preferred):
			t.Errorf("write %d: %s %v, hash %d, node %s; want id user-001, %d, %s",
				i, got.Attribute, got.Key, got.Hash, got.Preferred, hash, preferred)
		}
	}
	for table, times := range keys.asked {
		if times != 1 {
			t.Errorf("asked %d times for %s, want once", times, table)
		}
	}
	if got := keys.missing["users"]; len(keys.missing) != 1 || !slices.Equal(got, []string{"id"}) {
		t.Errorf("missing keys %v, want id of users once", keys.missing)
	}
}

func TestExplainWithoutNodesOrVotes(t *testing.T) {
	e := resolver.Explain(resolver.NewRing(), users(put(attributes{"id": text("a")})), newSchema(usersByID))
	if len(e.Order) != 0 || len(e.Votes) != 0 || len(e.Writes) != 1 || e.Writes[0].Skipped != "there is no node to vote for" {
		t.Errorf("on an empty ring: %+v", e)
	}
	e = resolver.Explain(ringOf(3), nil, newSchema(usersByID))
	if len(e.Order) != 0 || len(e.Votes) != 0 || len(e.Writes) != 0 {
		t.Errorf("of an empty batch: %+v", e)
	}
}
