package integration

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// patientDialler has the HTTP client wait for a connection for as long as the
// test lasts, and tells of each that it begins to wait for.
func patientDialler(t *testing.T, c *cluster.Cluster, dialling func(node int)) func(*dynamodb.Options) {
	ended, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	return func(o *dynamodb.Options) {
		transportOf(o).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(ended, cancel)()
			dialling(c.NodeAt(address).Index())
			return c.DialContext(ctx, network, address)
		}
	}
}

func (s *scene) drop(node int) {
	s.t.Helper()
	if err := s.Node(node).DropPackets(); err != nil {
		s.t.Fatal(err)
	}
	s.pool.CloseIdleConnections()
}

func quickConnect(o *middleware.Options) { o.ConnectTimeout = 500 * time.Millisecond }

// TestNodeDropsPackets would last for as long as the HTTP client dials, but for
// ConnectTimeout.
func TestNodeDropsPackets(t *testing.T) {
	t.Parallel()
	a := newAccount()
	c := cluster.New(t, nodes(3))
	dial := patientDialler(t, c, func(int) {})
	s := newSceneOf(t, c, func(o *dynamodb.Options) {
		dial(o)
		o.Retryer = a
	}, quickConnect)
	s.drop(1)
	s.want(s.write(1), 1, s.order(1)[:2]...)
	s.wantWell(0, 2)
	for range 5 {
		s.want(s.whileSuspected(1), 1, s.order(1)[1])
	}
	for _, other := range []int{0, 2} {
		s.want(s.write(other), 1, other)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.retryTokens != 0 || len(a.delays) != 0 {
		t.Errorf("%d tokens were taken, back-off behind attempts %v", a.retryTokens, a.delays)
	}
}

// TestNodesDropPackets has a call wait for two nodes in turn, once.
func TestNodesDropPackets(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(4))
	s := newSceneOf(t, c, patientDialler(t, c, func(int) {}), quickConnect, downAtOnce)
	order := s.order(3)
	s.drop(order[0])
	s.drop(order[1])
	s.want(s.write(3), 1, order[:3]...)
	s.wantDown(order[:2]...)
	s.wantWell(order[2:]...)
	for range 5 {
		s.want(s.write(3), 1, order[2])
	}
}

// TestOnlyNodeLeftDropsPackets: where there is no other coordinator to try, the
// HTTP client may wait for as long as it and the caller care to.
func TestOnlyNodeLeftDropsPackets(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(2))
	s := newSceneOf(t, c, patientDialler(t, c, func(int) {}), quickConnect, downAtOnce)
	s.drop(1)
	s.refuse(0)
	ctx, cancel := context.WithTimeout(s.ctx, 1500*time.Millisecond)
	defer cancel()
	_, err := s.client.BatchWriteItem(ctx, s.writeTo(0))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want that of the caller's deadline", err)
	}
	if got := coordinatorError(t, err).Coordinator; got != s.Node(1).URL() {
		t.Errorf("the error names %s, want node 1", got)
	}
	s.wantDown(0)
	s.wantWell(1)
}

func TestNodeDropsPacketsWithAnUntracedClient(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	s := newSceneOf(t, c, func(o *dynamodb.Options) {
		// Nobody but the HTTP client knows that a connection is being made, so
		// it is its own timeout that ends this.
		transportOf(o).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			defer cancel()
			return c.DialContext(ctx, network, address)
		}
		untrace(o)
	}, quickConnect, downAtOnce)
	s.drop(1)
	s.want(s.write(1), 1, s.order(1)[:2]...)
	s.wantDown(1)
	s.wantWell(0, 2)
	s.want(s.write(1), 1, s.order(1)[1])
}

// TestCallerCancelsWhileDialling blames nobody and tries nobody else.
func TestCallerCancelsWhileDialling(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var dropping atomic.Bool
	s := newSceneOf(t, c, patientDialler(t, c, func(node int) {
		if node == 1 && dropping.Load() {
			cancel()
		}
	}), downAtOnce, func(o *middleware.Options) { o.ConnectTimeout = patience })
	s.Record(true)
	s.drop(1)
	dropping.Store(true)
	_, err := s.client.BatchWriteItem(ctx, s.writeTo(1))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that of the caller's context", err)
	}
	if got := coordinatorError(t, err); got.Coordinator != s.Node(1).URL() || got.Attempt != 1 {
		t.Errorf("the error is of %s and attempt %d, want node 1 and attempt 1", got.Coordinator, got.Attempt)
	}
	wantEqual(t, "nodes that were asked", asked(s.Cluster, "BatchWriteItem"), nil)
	s.wantWell(0, 1, 2)
}

// TestCallsWithLessTimeThanConnectTimeout checks that calls whose own deadline
// comes before ConnectTimeout find out a node that drops packets, too: each has
// time left for another coordinator, and the node is passed over.
func TestCallsWithLessTimeThanConnectTimeout(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"), func(o *middleware.Options) { o.ConnectTimeout = time.Hour })
	client := attach(t, c, p, patientDialler(t, c, func(int) {}))
	if err := c.Node(1).DropPackets(); err != nil {
		t.Fatal(err)
	}
	key := keyPreferring(t, c, 1)
	for i := range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		out, err := client.BatchWriteItem(ctx, batch(writes{"orders": {put(item{"pk": key})}}))
		cancel()
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		d := decision(t, out.ResultMetadata)
		if d.Preferred != c.Node(1).URL() || d.Coordinator == c.Node(1).URL() {
			t.Errorf("call %d: %+v", i, d)
		}
	}
}
