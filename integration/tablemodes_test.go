package integration

import (
	"slices"
	"testing"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

func arnOf(table string) string {
	return "arn:aws:dynamodb:us-east-1:123456789012:table/" + table
}

// modesCluster has the tables "orders", "audit" in mode None and "locks" in mode
// RMW, none of whose keys are known beforehand.
func modesCluster(t *testing.T) (*cluster.Cluster, func(*middleware.Options)) {
	t.Helper()
	c := cluster.New(t, nodes(3))
	for _, table := range []string{"orders", "audit", "locks"} {
		createTable(t, c, table, "pk", "S")
	}
	return c, func(o *middleware.Options) {
		o.TableModes = map[string]middleware.Mode{"audit": middleware.None, "locks": middleware.RMW}
	}
}

// Node 2 would win if all writes had a vote. The batches are sent until the one
// table that is looked up is known.
func TestOnlyTablesInAnyWriteVote(t *testing.T) {
	for name, of := range map[string]func(string) string{
		"by name": func(table string) string { return table },
		"by ARN":  arnOf,
	} {
		t.Run(name, func(t *testing.T) {
			c, tableModes := modesCluster(t)
			p := newPlugin(t, c, mode(middleware.AnyWrite), tableModes)
			client := attach(t, c, p)
			v := newVoter(t, c)
			in := batch(writes{of("orders"): v.puts(1), of("audit"): v.puts(2, 2), of("locks"): v.deletes(2, 2, 0)})
			var d middleware.Decision
			eventually(t, "the batch votes", func() bool {
				d = send(t, client, in)
				return d.Reason != middleware.ReasonNoVotes
			})
			if got, want := votesOf(c, d), []vote{{1, 1}}; d.Reason != middleware.ReasonVoted || !slices.Equal(got, want) {
				t.Errorf("%v with the votes %v, want %v with %v", d.Reason, got, middleware.ReasonVoted, want)
			}
			if d.Coordinator != c.Node(1).URL() {
				t.Errorf("coordinator %s, want node 1", d.Coordinator)
			}
			closePlugin(t, p)
			if lookups := p.Stats().Schemas.Lookups; lookups != 1 || c.Count("DescribeTable") != 1 {
				t.Errorf("%d tables were looked up with %d DescribeTable, want the one that votes", lookups, c.Count("DescribeTable"))
			}
		})
	}
}

func TestABatchOfOtherTablesIsOrdinary(t *testing.T) {
	c, tableModes := modesCluster(t)
	p := newPlugin(t, c, mode(middleware.AnyWrite), tableModes, keys("audit", "pk", "locks", "pk"))
	client := attach(t, c, p)
	v := newVoter(t, c)
	for range spreadCalls {
		d := send(t, client, batch(writes{"audit": v.puts(1, 1), "locks": v.puts(1, 1)}))
		if d.Reason != middleware.ReasonMode || d.Votes != nil {
			t.Fatalf("%v with the votes %v, want %v", d.Reason, votesOf(c, d), middleware.ReasonMode)
		}
	}
	checkSpread(t, c, "BatchWriteItem")
}

func TestTheModeOfATableCountsForItsSingleWrites(t *testing.T) {
	c, tableModes := modesCluster(t)
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite), tableModes,
		keys("orders", "pk", "audit", "pk", "locks", "pk")))
	v := newVoter(t, c)
	for table, want := range map[string]struct{ reading, unreading middleware.Reason }{
		"orders": {middleware.ReasonKeyed, middleware.ReasonKeyed},
		"locks":  {middleware.ReasonKeyed, middleware.ReasonNotReadModifyWrite},
		"audit":  {middleware.ReasonMode, middleware.ReasonMode},
	} {
		for _, given := range []string{table, arnOf(table)} {
			for write, want := range map[*keyedWrite]middleware.Reason{
				&conditionalPut: want.reading, &updateOne: want.reading,
				&putOne: want.unreading, &deleteOne: want.unreading,
			} {
				d := write.write(t, client, given, item{"pk": v.key(1)})
				if d.Reason != want {
					t.Errorf("%s to %s: %v, want %v", write.operation, given, d.Reason, want)
				}
				if d.Reason == middleware.ReasonKeyed && d.Coordinator != c.Node(1).URL() {
					t.Errorf("%s to %s was sent to %s, want node 1", write.operation, given, d.Coordinator)
				}
			}
		}
	}
}

func TestATableInAnyWriteIsRoutedWhenOthersAreNot(t *testing.T) {
	c, _ := modesCluster(t)
	p := newPlugin(t, c, keys("orders", "pk", "audit", "pk"), func(o *middleware.Options) {
		o.TableModes = map[string]middleware.Mode{"orders": middleware.AnyWrite}
	})
	client := attach(t, c, p)
	v := newVoter(t, c)
	check := func(d middleware.Decision, want middleware.Reason) {
		t.Helper()
		if d.Reason != want || d.Coordinator != c.Node(2).URL() {
			t.Errorf("%v to %s, want %v to node 2", d.Reason, d.Coordinator, want)
		}
		if d.Mode != middleware.None {
			t.Errorf("the plugin's mode is %v, want %v", d.Mode, middleware.None)
		}
	}
	for _, write := range singleWrites {
		check(write.write(t, client, "orders", item{"pk": v.key(2)}), middleware.ReasonKeyed)
		if d := write.write(t, client, "audit", item{"pk": v.key(2)}); d.Reason != middleware.ReasonMode {
			t.Errorf("%s to another table: %v, want %v", write.operation, d.Reason, middleware.ReasonMode)
		}
	}
	d := send(t, client, batch(writes{"orders": v.puts(2), "audit": v.puts(1, 1)}))
	check(d, middleware.ReasonVoted)
	if got, want := votesOf(c, d), []vote{{2, 1}}; !slices.Equal(got, want) {
		t.Errorf("votes %v, want %v", got, want)
	}

	// SetMode is for the tables that have no mode of their own.
	if err := p.SetMode(middleware.AnyWrite); err != nil {
		t.Fatal(err)
	}
	if d := putOne.write(t, client, "audit", item{"pk": v.key(2)}); d.Reason != middleware.ReasonKeyed || d.Mode != middleware.AnyWrite {
		t.Errorf("after SetMode: %v in mode %v", d.Reason, d.Mode)
	}
}
