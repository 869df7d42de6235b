package integration

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// BenchmarkFailover measures how much longer than usual the first call takes
// after the node that served the last one has died, so that its port refuses
// connections: with the plugin, and with a bare client of a name that DNS
// resolves to either of two nodes in turn.
func BenchmarkFailover(b *testing.B) {
	for name, client := range map[string]func(*testing.B, *cluster.Cluster) (*dynamodb.Client, func()){
		"keyroute": routedClient,
		"dns":      namedClient,
	} {
		b.Run(name, func(b *testing.B) {
			c := cluster.New(b, nodes(2))
			createTable(b, c, "items", "pk", "S")
			in := batch(writes{"items": {put(item{"pk": keyPreferring(b, c, 1)})}})
			var extra []time.Duration
			for b.Loop() {
				extra = append(extra, failover(b, c, client, in))
			}
			slices.Sort(extra)
			b.ReportMetric(0, "ns/op") // setting the stage is most of it
			b.ReportMetric(milliseconds(extra[len(extra)/2]), "median-extra-ms")
			b.ReportMetric(milliseconds(mean(extra)), "mean-extra-ms")
			b.ReportMetric(milliseconds(extra[len(extra)-1]), "max-extra-ms")
		})
	}
}

// failover makes calls with a new client, has their coordinator die, and
// returns how much longer than those the next call takes.
func failover(b *testing.B, c *cluster.Cluster, newClient func(*testing.B, *cluster.Cluster) (*dynamodb.Client, func()),
	in *dynamodb.BatchWriteItemInput,
) time.Duration {
	b.Helper()
	client, done := newClient(b, c)
	defer done()
	call := func() time.Duration {
		began := time.Now()
		if _, err := client.BatchWriteItem(context.Background(), in); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	call() // connects
	const usualCalls = 9
	var usual []time.Duration
	for range usualCalls {
		usual = append(usual, call())
	}
	slices.Sort(usual)
	served := c.Node(0)
	c.ResetCounts()
	call()
	if c.Node(1).Count("BatchWriteItem") > 0 {
		served = c.Node(1)
	}
	served.Refuse()
	first := call()
	if err := served.Heal(); err != nil {
		b.Fatal(err)
	}
	return first - usual[usualCalls/2]
}

// routedClient is a client with the plugin, which knows both nodes.
func routedClient(b *testing.B, c *cluster.Cluster) (*dynamodb.Client, func()) {
	p, err := middleware.New(mode(middleware.AnyWrite), keys("items", "pk"), func(o *middleware.Options) { o.Seeds = c.Seeds()[:1] })
	if err != nil {
		b.Fatal(err)
	}
	options := c.ClientOptions()
	client := dynamodb.New(options, p.Attach)
	if err := p.Refresh(b.Context()); err != nil {
		b.Fatal(err)
	}
	return client, func() {
		if err := p.Close(context.Background()); err != nil {
			b.Error(err)
		}
		transportOf(&options).CloseIdleConnections()
	}
}

// namedClient is a bare client of a name. A name server answers with the nodes
// in turn. Whose turn it is when the client asks again after a while is chance,
// since others ask, too; when it asks at once, it is the other node's.
func namedClient(_ *testing.B, c *cluster.Cluster) (*dynamodb.Client, func()) {
	options := c.ClientOptions()
	options.BaseEndpoint = aws.String("http://alternator.example:8000")
	transport := transportOf(&options)
	var asked atomic.Uint64
	chance := rand.Uint64N(2)
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		turn := asked.Add(1)
		if turn > 1 {
			turn += chance
		}
		return c.DialContext(ctx, network, c.Node(int(turn%2)).HostPort())
	}
	return dynamodb.New(options), transport.CloseIdleConnections
}

func mean(list []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range list {
		sum += d
	}
	return sum / time.Duration(len(list))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
