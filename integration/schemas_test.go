package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// lookups closes a channel when a cluster receives its first DescribeTable.
func lookups(c *cluster.Cluster) <-chan struct{} {
	began := make(chan struct{})
	once := sync.OnceFunc(func() { close(began) })
	for _, n := range c.Nodes() {
		n.Before(func(operation string, _ *http.Request) {
			if operation == "DescribeTable" {
				once()
			}
		})
	}
	return began
}

// checkVotes waits until a batch of one write votes, and checks where it goes.
func checkVotes(t *testing.T, c *cluster.Cluster, client *dynamodb.Client, in *dynamodb.BatchWriteItemInput, node int) {
	t.Helper()
	var d middleware.Decision
	eventually(t, "the batch votes", func() bool {
		d = send(t, client, in)
		return d.Reason != middleware.ReasonNoVotes
	})
	if got, want := votesOf(c, d), []vote{{node, 1}}; d.Reason != middleware.ReasonVoted || !slices.Equal(got, want) {
		t.Errorf("reason %v with the votes %v, want %v, %v", d.Reason, got, middleware.ReasonVoted, want)
	}
	if d.Coordinator != c.Node(node).URL() {
		t.Errorf("coordinator %s, want %s", d.Coordinator, c.Node(node).URL())
	}
}

func TestOneLookupForAThousandBatches(t *testing.T) {
	const batches = 1000
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	// A thousand connections at once may take longer than a second to make.
	patient := func(o *middleware.Options) { o.ConnectTimeout = -1 }
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite), patient))
	answer := make(chan struct{})
	c.Inject(cluster.Hold(answer).On("DescribeTable"))
	began := lookups(c)

	start := make(chan struct{})
	var running sync.WaitGroup
	for i := range batches {
		running.Go(func() {
			<-start
			out, err := client.BatchWriteItem(deadline(t), batch(writes{"orders": {put(item{"pk": str(fmt.Sprint(i))})}}))
			if err != nil {
				t.Error(err)
				return
			}
			if d, _ := middleware.DecisionOf(out.ResultMetadata); d.Reason != middleware.ReasonNoVotes {
				t.Errorf("routed with the reason %v, want %v", d.Reason, middleware.ReasonNoVotes)
			}
		})
	}
	close(start)
	running.Wait()
	await(t, "DescribeTable", began)
	close(answer)

	checkVotes(t, c, client, batch(writes{"orders": newVoter(t, c).puts(2)}), 2)
	if got := c.Count("DescribeTable"); got != 1 {
		t.Errorf("%d DescribeTable were sent, want 1", got)
	}
	out, err := c.Client().Scan(deadline(t), &dynamodb.ScanInput{TableName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Count; got != batches+1 {
		t.Errorf("the table has %d items, want %d", got, batches+1)
	}
}

func TestALookupOutlivesACancelledCaller(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite)))
	answer := make(chan struct{})
	c.Inject(cluster.Hang().On("BatchWriteItem"))
	c.Inject(cluster.Hold(answer).On("DescribeTable"))
	began := lookups(c)
	in := batch(writes{"orders": newVoter(t, c).puts(1)})

	ctx, cancel := context.WithCancel(deadline(t))
	ended := make(chan error, 1)
	go func() {
		_, err := client.BatchWriteItem(ctx, in)
		ended <- err
	}()
	await(t, "DescribeTable", began)
	cancel()
	if err := await(t, "end of the call", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v, want a cancelled context", err)
	}

	close(answer)
	heal(t, c)
	checkVotes(t, c, client, in, 1)
	if got := c.Count("DescribeTable"); got != 1 {
		t.Errorf("%d DescribeTable were sent, want the one of the cancelled caller", got)
	}
}

// A lookup that fails for a passing reason does not fail a batch either, and a
// table that is created through the client needs none.
func TestBatchesNeverWaitForALookup(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite)))
	c.Inject(cluster.Answer(400, "AccessDeniedException", "not for you").On("DescribeTable"))
	v := newVoter(t, c)
	began := lookups(c)
	for range 10 {
		if d := send(t, client, batch(writes{"orders": v.puts(1)})); d.Reason != middleware.ReasonNoVotes {
			t.Fatalf("routed with the reason %v, want %v", d.Reason, middleware.ReasonNoVotes)
		}
	}
	await(t, "DescribeTable", began)

	createTableWith(t, client, "learnt", "pk", "S")
	d := send(t, client, batch(writes{"orders": v.puts(1, 1), "learnt": v.puts(2)}))
	if got, want := votesOf(c, d), []vote{{2, 1}}; !slices.Equal(got, want) {
		t.Errorf("votes %v, want %v", got, want)
	}
	if got := c.Count("DescribeTable"); got != 1 {
		t.Errorf("%d DescribeTable were sent, want 1", got)
	}
}
