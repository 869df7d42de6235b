package resolver_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

// These tests let batches vote on a ring of ten nodes. Its preferred nodes come
// from math/rand, seeded for each key.
const tenNodes = 10

func preferredOf(value types.AttributeValue) int {
	hash, _ := referenceHash(value)
	return seededIntn(hash, tenNodes)
}

// votesOf returns the votes of a batch by node, and what it asked and said.
func votesOf(t *testing.T, batch map[string][]types.WriteRequest, keys map[string]string) (map[int]int, *schema) {
	t.Helper()
	var plan resolver.Plan
	ring, asked := ringOf(tenNodes), newSchema(keys)
	voted := plan.PreferVoted(ring, batch, asked)
	counts := map[int]int{}
	for _, v := range plan.Votes() {
		i, ok := ring.Index(v.Node.String())
		if !ok {
			t.Fatalf("a vote for %s, which is not in the ring", v.Node)
		}
		counts[i] = v.Count
	}
	if voted != (len(counts) > 0) {
		t.Fatalf("voted: %t, with votes %v", voted, counts)
	}
	if voted && counts[plan.At(0)] == 0 {
		t.Fatalf("first is node %d, which has no vote of %v", plan.At(0), counts)
	}
	return counts, asked
}

// wantVotes checks that a batch gives a vote for each of the keys, and no other.
func wantVotes(t *testing.T, batch map[string][]types.WriteRequest, keys map[string]string, want ...types.AttributeValue) *schema {
	t.Helper()
	counts, asked := votesOf(t, batch, keys)
	wanted := map[int]int{}
	for _, key := range want {
		wanted[preferredOf(key)]++
	}
	for node := range tenNodes {
		if counts[node] != wanted[node] {
			t.Errorf("votes %v, want %v", counts, wanted)
			break
		}
	}
	return asked
}

var usersByID = map[string]string{"users": "id"}

func users(writes ...types.WriteRequest) map[string][]types.WriteRequest {
	return map[string][]types.WriteRequest{"users": writes}
}

func TestVoteOfAPutAndOfADeleteIsTheSame(t *testing.T) {
	for _, key := range []types.AttributeValue{text("user-001"), number("42"), binary("\x01\x02")} {
		wantVotes(t, users(put(attributes{"id": key, "name": text("x")})), usersByID, key)
		wantVotes(t, users(del(attributes{"id": key})), usersByID, key)
		wantVotes(t, users(put(attributes{"id": key}), del(attributes{"id": key})), usersByID, key, key)
	}
}

func TestVoteNeedsExactlyOneOfPutAndDelete(t *testing.T) {
	a := attributes{"id": text("user-001")}
	neither := types.WriteRequest{}
	both := types.WriteRequest{PutRequest: put(a).PutRequest, DeleteRequest: del(a).DeleteRequest}
	bothOneEmpty := types.WriteRequest{PutRequest: put(a).PutRequest, DeleteRequest: &types.DeleteRequest{}}
	for _, w := range []types.WriteRequest{neither, both, bothOneEmpty} {
		asked := wantVotes(t, users(w), usersByID)
		if len(asked.asked) != 0 {
			t.Errorf("%+v: asked for %v, want nothing", w, asked.asked)
		}
		wantVotes(t, users(w, put(attributes{"id": text("user-009")}), w), usersByID, text("user-009"))
	}
}

func TestVoteNeedsAnAttribute(t *testing.T) {
	for _, w := range []types.WriteRequest{
		put(nil), put(attributes{}), del(nil), del(attributes{}),
	} {
		asked := wantVotes(t, users(w), usersByID)
		if len(asked.asked) != 0 || len(asked.missing) != 0 {
			t.Errorf("%+v: asked for %v, missing %v, want nothing", w, asked.asked, asked.missing)
		}
		wantVotes(t, users(w, del(attributes{"id": number("7")})), usersByID, number("7"))
	}
}

func TestVoteOfAnUnknownTableIsSkipped(t *testing.T) {
	key := attributes{"id": text("user-001"), "pk": text("order-1")}
	batch := map[string][]types.WriteRequest{
		"events":  {put(key), del(key), put(key)},
		"audit":   {put(key)},
		"invalid": {{}, put(nil)},
		"none":    {},
		"nil":     nil,
		"users":   {put(key), put(key)},
	}
	asked := wantVotes(t, batch, usersByID, text("user-001"), text("user-001"))
	if want := []string{"audit", "events"}; !slices.Equal(asked.unknown(), want) {
		t.Errorf("to look up: %q, want %q", asked.unknown(), want)
	}
	for table, times := range asked.asked {
		if times != 1 {
			t.Errorf("asked %d times for %s, want once", times, table)
		}
	}
	if len(asked.missing) != 0 {
		t.Errorf("missing keys %v, want none", asked.missing)
	}
}

func TestVoteReportsAMissingKeyOncePerTable(t *testing.T) {
	other := attributes{"name": text("x")}
	batch := map[string][]types.WriteRequest{
		"users":  {put(other), del(other), put(attributes{"id": text("user-001")}), put(other)},
		"orders": {del(other)},
		"tags":   {put(attributes{"pk": text("a")})},
		"events": {put(other)},
	}
	asked := wantVotes(t, batch, knownKeys, text("user-001"), text("a"))
	want := map[string]string{"users": "id", "orders": "pk"}
	for table, key := range want {
		if got := asked.missing[table]; !slices.Equal(got, []string{key}) {
			t.Errorf("%s: missing keys %q, want %q once", table, got, key)
		}
	}
	if len(asked.missing) != len(want) {
		t.Errorf("missing keys %v, want those of %v", asked.missing, want)
	}
}

func TestVoteNeedsAKeyThatHasAHash(t *testing.T) {
	for name, value := range unhashable {
		t.Run(name, func(t *testing.T) {
			asked := wantVotes(t, users(put(attributes{"id": value})), usersByID)
			if len(asked.missing) != 0 {
				t.Errorf("missing keys %v: a key of another type is not a missing one", asked.missing)
			}
			wantVotes(t, users(del(attributes{"id": value}), put(attributes{"id": text("a")})), usersByID, text("a"))
		})
	}
}

func TestVoteOfADuplicateKeyCountsTwice(t *testing.T) {
	key := text("user-001")
	counts, _ := votesOf(t, users(put(attributes{"id": key}), put(attributes{"id": key}), del(attributes{"id": key})), usersByID)
	if got := counts[preferredOf(key)]; got != 3 {
		t.Errorf("%d votes, want 3", got)
	}
}

func TestVoteIsOfThePartitionKeyAlone(t *testing.T) {
	key := binary("key")
	for _, a := range []attributes{
		{"id": key},
		{"id": key, "sk": text("a")},
		{"id": key, "sk": number("1"), "ID": text("other"), "": text("x"), "payload": &types.AttributeValueMemberM{}},
		{"id": key, "sk": nil},
	} {
		wantVotes(t, users(put(a), del(a)), usersByID, key, key)
	}
}

func TestVoteTellsTablesKeysApart(t *testing.T) {
	a := attributes{"id": text("user-001"), "pk": text("order-1")}
	batch := map[string][]types.WriteRequest{"users": {put(a)}, "orders": {put(a)}}
	wantVotes(t, batch, knownKeys, text("user-001"), text("order-1"))
}

func TestVoteWithoutVotesLeavesTheChoiceFree(t *testing.T) {
	var plan resolver.Plan
	plan.PreferVoted(ringOf(tenNodes), batchOf(25), fixedKey("pk"))
	for name, batch := range map[string]map[string][]types.WriteRequest{
		"nil":           nil,
		"empty":         {},
		"no writes":     {"users": {}},
		"no candidates": users(types.WriteRequest{}, put(nil)),
		"unknown":       {"events": {put(attributes{"id": text("a")})}},
		"no key":        users(put(attributes{"name": text("a")})),
		"odd key":       users(put(attributes{"id": nil})),
	} {
		if plan.PreferVoted(ringOf(tenNodes), batch, newSchema(usersByID)) {
			t.Errorf("%s: voted", name)
		}
		if votes := plan.Votes(); votes != nil {
			t.Errorf("%s: votes %v, want none", name, votes)
		}
		plan.PreferAny(ringOf(tenNodes), 7)
		if got, want := orderOf(&plan), referencePlan(tenNodes, 7); !slices.Equal(got, want) {
			t.Errorf("%s: any order after it is %v, want %v", name, got, want)
		}
	}
}

func TestVoteOnAnEmptyRingAsksNothing(t *testing.T) {
	var plan resolver.Plan
	asked := newSchema(usersByID)
	for _, ring := range []*resolver.Ring{{}, resolver.NewRing()} {
		if plan.PreferVoted(ring, users(put(attributes{"id": text("a")})), asked) || plan.Len() != 0 {
			t.Error("voted on an empty ring")
		}
	}
	if len(asked.asked) != 0 {
		t.Errorf("asked for %v", asked.asked)
	}
}
