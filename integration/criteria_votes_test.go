package integration

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// votingCluster is a cluster of n nodes with some tables that have the
// partition key pk, and a client with the plugin, which knows these tables.
func votingCluster(t testing.TB, n int, tables ...string) (*cluster.Cluster, *dynamodb.Client) {
	t.Helper()
	c := cluster.New(t, nodes(n))
	var known []string
	for _, table := range tables {
		createTable(t, c, table, "pk", "S")
		known = append(known, table, "pk")
	}
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys(known...))
	return c, attach(t, c, p, impatient(n))
}

func TestCriterion01WritesOfOneTableVote(t *testing.T) {
	c, client := votingCluster(t, 4, "orders")
	v := newVoter(t, c)
	for kind, write := range map[string]func(...int) []types.WriteRequest{"put": v.puts, "delete": v.deletes} {
		t.Run(kind, func(t *testing.T) {
			for node, order := range [][]int{{0, 1, 2, 3}, {1, 0, 2, 3}, {2, 0, 1, 3}, {3, 0, 1, 2}} {
				checkRoute(t, c, client, batch(writes{"orders": write(node)}), []vote{{node, 1}}, order)
			}
			checkRoute(t, c, client, batch(writes{"orders": write(1, 3, 3)}), []vote{{3, 2}, {1, 1}}, []int{3, 1, 0, 2})
		})
	}
}

func TestCriterion02TableOrderNeverMatters(t *testing.T) {
	tables := []string{"aaa", "mmm", "zzz"}
	c, client := votingCluster(t, 4, tables...)
	v := newVoter(t, c)
	lists := [][]types.WriteRequest{v.puts(2, 2, 0), v.deletes(3, 3), v.puts(2, 1, 3)}
	votes, order := []vote{{2, 3}, {3, 3}, {0, 1}, {1, 1}}, []int{2, 3, 0, 1}

	in := writes{}
	for i, table := range tables {
		in[table] = lists[i]
	}
	checkRoute(t, c, client, batch(in), votes, order)

	t.Run("reversed", func(t *testing.T) {
		in := writes{}
		for i, table := range tables {
			in[table] = lists[len(lists)-1-i]
		}
		checkRoute(t, c, client, batch(in), votes, order)
	})

	t.Run("shuffled", func(t *testing.T) {
		// Batches are answered here, because they are many.
		var sent list[string]
		client := dynamodb.New(client.Options(), func(o *dynamodb.Options) {
			through := o.HTTPClient
			o.HTTPClient = httpClientFunc(func(r *http.Request) (*http.Response, error) {
				if operationOf(r) != "BatchWriteItem" {
					return through.Do(r)
				}
				sent.add(r.URL.Host)
				return reply(r, http.StatusInternalServerError, internalOops), nil
			})
		})
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 1000 {
			in := writes{}
			for _, n := range random.Perm(len(tables)) {
				list := slices.Clone(lists[n])
				random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				in[tables[n]] = list
			}
			if _, err := client.BatchWriteItem(deadline(t), batch(in)); err == nil {
				t.Fatal("a batch succeeded though every node answers 500")
			}
			if got := indexes(c, sent.take()); !slices.Equal(got, order) {
				t.Fatalf("shuffle %d asked the nodes %v, want %v", i, got, order)
			}
		}
	})
}

func TestCriterion03WriteOrderNeverMatters(t *testing.T) {
	c, client := votingCluster(t, 4, "orders")
	list := newVoter(t, c).puts(3, 1, 3, 0, 1, 2)
	reversed := slices.Clone(list)
	slices.Reverse(reversed)
	for name, list := range map[string][]types.WriteRequest{"as written": list, "reversed": reversed} {
		t.Run(name, func(t *testing.T) {
			checkRoute(t, c, client, batch(writes{"orders": list}),
				[]vote{{1, 2}, {3, 2}, {0, 1}, {2, 1}}, []int{1, 3, 0, 2})
		})
	}
}

// Without the puts node 1 would win, without the deletes node 2.
func TestCriterion04PutsAndDeletesVoteTogether(t *testing.T) {
	c, client := votingCluster(t, 4, "orders")
	v := newVoter(t, c)
	list := slices.Concat(v.puts(2, 2, 3), v.deletes(3, 3, 1, 1, 1), v.puts(3))
	checkRoute(t, c, client, batch(writes{"orders": list}),
		[]vote{{3, 4}, {1, 3}, {2, 2}}, []int{3, 1, 2, 0})
}

func TestCriterion05AnUnknownTableDoesNotBlockAnother(t *testing.T) {
	c := cluster.New(t, nodes(4))
	createTable(t, c, "orders", "pk", "S")
	createTable(t, c, "unknown", "pk", "S")
	answer := make(chan struct{})
	c.Inject(cluster.Hold(answer).On("DescribeTable"))
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	client := attach(t, c, p)
	v := newVoter(t, c)
	in := batch(writes{"orders": v.puts(3), "unknown": v.puts(1, 1, 1)})

	d := send(t, client, in)
	if got, want := votesOf(c, d), []vote{{3, 1}}; !slices.Equal(got, want) {
		t.Errorf("with one table unknown the votes are %v, want %v", got, want)
	}
	if d.Coordinator != c.Node(3).URL() {
		t.Errorf("with one table unknown the coordinator is %s, want %s", d.Coordinator, c.Node(3).URL())
	}

	close(answer)
	eventually(t, "both tables vote", func() bool { return len(votesOf(c, send(t, client, in))) == 2 })
	d = send(t, client, in)
	if got, want := votesOf(c, d), []vote{{1, 3}, {3, 1}}; !slices.Equal(got, want) {
		t.Errorf("with both tables known the votes are %v, want %v", got, want)
	}
	if got := c.Count("DescribeTable"); got != 1 {
		t.Errorf("%d DescribeTable were sent, want 1", got)
	}
}

// The server refuses such keys, so what the batch was sent to is told by the
// order of its attempts and by the error.
func TestCriterion06UnsupportedKeysAreSkipped(t *testing.T) {
	c, client := votingCluster(t, 4, "orders")
	v := newVoter(t, c)
	for name, value := range map[string]types.AttributeValue{
		"BOOL":  &types.AttributeValueMemberBOOL{Value: true},
		"NULL":  &types.AttributeValueMemberNULL{Value: true},
		"SS":    &types.AttributeValueMemberSS{Value: []string{"a"}},
		"NS":    &types.AttributeValueMemberNS{Value: []string{"1"}},
		"BS":    &types.AttributeValueMemberBS{Value: [][]byte{{1}}},
		"L":     &types.AttributeValueMemberL{Value: []types.AttributeValue{str("a")}},
		"M":     &types.AttributeValueMemberM{Value: item{"pk": str("a")}},
		"other": &types.UnknownUnionMember{Tag: "X", Value: []byte("a")},
		"nil":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			odd := []types.WriteRequest{put(item{"pk": value, "n": num("1")}), del(item{"pk": value}), put(item{"pk": value, "n": num("2")})}
			in := batch(writes{"orders": slices.Concat(odd[:2], v.puts(2), v.deletes(1, 2), odd[2:])})
			if got, want := orderOf(t, c, client, in), []int{2, 1, 0, 3}; !slices.Equal(got, want) {
				t.Errorf("retries asked the nodes %v, want %v", got, want)
			}
			checkRefused(t, c, client, in, 2)
		})
	}
}

// checkRefused checks that a batch is refused as invalid by a node, and by no
// other.
func checkRefused(t *testing.T, c *cluster.Cluster, client *dynamodb.Client, in *dynamodb.BatchWriteItemInput, node int) {
	t.Helper()
	_, err := client.BatchWriteItem(deadline(t), in)
	e := coordinatorError(t, err)
	if e.Coordinator != c.Node(node).URL() || e.Attempt != 1 {
		t.Errorf("refused by %s in attempt %d, want %s in attempt 1", e.Coordinator, e.Attempt, c.Node(node).URL())
	}
	if code := apiError(t, err).ErrorCode(); code != "ValidationException" {
		t.Errorf("refused with %s, want ValidationException", code)
	}
}

// If what is ignored had a vote, it would be one for node 3, and the most.
func TestCriterion07EmptyAndInvalidWritesAreIgnored(t *testing.T) {
	c, client := votingCluster(t, 4, "orders")
	v := newVoter(t, c)
	both := func() types.WriteRequest {
		key := v.key(3)
		return types.WriteRequest{
			PutRequest:    &types.PutRequest{Item: item{"pk": key}},
			DeleteRequest: &types.DeleteRequest{Key: item{"pk": key}},
		}
	}
	for name, ignored := range map[string][]types.WriteRequest{
		"neither":       {{}, {}, {}},
		"both":          {both(), both(), both()},
		"an empty item": {put(item{}), put(item{}), put(item{})},
		"an empty key":  {del(item{}), del(item{}), del(item{})},
		"all of them":   {{}, both(), put(item{}), del(item{}), both()},
		"no key at all": {put(item{"data": v.key(3)}), put(item{"data": v.key(3)}), del(item{"data": v.key(3)})},
	} {
		t.Run(name, func(t *testing.T) {
			in := batch(writes{"orders": slices.Concat(ignored[:1], v.puts(2), ignored[1:], v.deletes(1, 2))})
			if got, want := orderOf(t, c, client, in), []int{2, 1, 0, 3}; !slices.Equal(got, want) {
				t.Errorf("retries asked the nodes %v, want %v", got, want)
			}
			checkRefused(t, c, client, in, 2)
		})
	}
}

// The attributes that must not matter hold keys that prefer node 3.
func TestCriterion08OtherAttributesNeverMatter(t *testing.T) {
	c := cluster.New(t, nodes(4))
	createTable(t, c, "orders", "pk", "S")
	createTable(t, c, "events", "id,pk", "SS")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk", "events", "id"))
	client := attach(t, c, p, impatient(4))
	v := newVoter(t, c)
	first, second, event := v.key(1), v.key(2), v.key(2)

	for i, attributes := range []item{
		{},
		{"id": v.key(3)},
		{"id": v.key(3), "a": v.key(3), "z": num("5"), "PK": v.key(3), "pk2": bin("x")},
		{"data": &types.AttributeValueMemberM{Value: item{"pk": v.key(3)}}, "": v.key(3)},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			a, b := maps.Clone(attributes), maps.Clone(attributes)
			a["pk"], b["pk"] = first, second
			e := maps.Clone(attributes)
			e["id"], e["pk"] = event, v.key(3)
			in := batch(writes{
				"orders": {put(a), put(b)},
				"events": {put(e), del(item{"pk": v.key(3), "id": event})},
			})
			checkRoute(t, c, client, in, []vote{{2, 3}, {1, 1}}, []int{2, 1, 0, 3})
		})
	}
}
