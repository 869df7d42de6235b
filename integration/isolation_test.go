package integration

import (
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// What the caller does with a slice or map after New is the caller's own
// affair, also while requests read what was made of it.
func TestTheOptionsAreTheCallersOwn(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	createTable(t, c, "users", "pk", "S")
	seeds := c.Seeds()
	known := map[string]string{"orders": "pk"}
	var given middleware.Options
	p, err := middleware.New(func(o *middleware.Options) {
		o.Mode = middleware.AnyWrite
		o.Seeds, o.PartitionKeys = seeds, known
	}, func(o *middleware.Options) { given = *o })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closePlugin(t, p) })
	client := c.Client(p.Attach)
	hold := make(chan struct{})
	defer close(hold)
	c.Inject(cluster.Hold(hold).On("DescribeTable"))
	v := newVoter(t, c)
	in := batch(writes{"orders": v.puts(2, 2), "users": v.puts(1, 1, 1)})

	var running sync.WaitGroup
	running.Go(func() {
		for i := range seeds {
			seeds[i] = "http://nobody.invalid:1"
		}
		known["orders"] = "absent"
		known["users"] = "pk"
		given.Seeds[0] = "http://somebody.invalid:1"
		given.PartitionKeys["orders"] = "missing"
		delete(known, "orders")
	})
	for range 20 {
		send(t, client, in)
	}
	running.Wait()

	if err := p.Refresh(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if got, want := live(c, p), []int{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("the live nodes are %v, want %v", got, want)
	}
	d := send(t, client, in)
	if got, want := votesOf(c, d), []vote{{2, 2}}; !slices.Equal(got, want) {
		t.Errorf("votes %v, want %v", got, want)
	}
}

// A batch is the caller's, too: the plugin neither changes nor keeps it.
func TestTheInputIsTheCallersOwn(t *testing.T) {
	c, client := votingCluster(t, 3, "orders")
	v := newVoter(t, c)
	list := v.puts(2, 1, 2)
	in := &dynamodb.BatchWriteItemInput{RequestItems: writes{"orders": list}}
	out, err := client.BatchWriteItem(deadline(t), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(in.RequestItems) != 1 || len(in.RequestItems["orders"]) != 3 || &in.RequestItems["orders"][0] != &list[0] {
		t.Errorf("the call changed its input to %v", in.RequestItems)
	}
	clear(list[0].PutRequest.Item)
	clear(list)
	clear(in.RequestItems)
	if got, want := votesOf(c, decision(t, out.ResultMetadata)), []vote{{2, 2}, {1, 1}}; !slices.Equal(got, want) {
		t.Errorf("votes %v, want %v", got, want)
	}
}
