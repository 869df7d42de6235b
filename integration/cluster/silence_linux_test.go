package cluster_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/keyroute/keyroute/integration/cluster"
)

// wantNoAnswer checks that a connection cannot be made, because nobody even
// refuses it.
func wantNoAnswer(t *testing.T, c *cluster.Cluster, n *cluster.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	conn, err := c.DialContext(ctx, "tcp", n.HostPort())
	if err == nil {
		conn.Close()
		t.Fatal("a silent node accepted a connection")
	}
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Fatalf("error is %v, want a timeout", err)
	}
}

func TestDropPackets(t *testing.T) {
	c, _ := faultyCluster(t)
	_, idle := dialIdle(t, c, c.Node(1))
	accepted := c.Node(1).Connections()
	for range 2 { // silencing it twice is silencing it once
		if err := c.Node(1).DropPackets(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			wantNoAnswer(t, c, c.Node(1))
		}
	}
	wantClosed(t, idle)
	equal(t, "connections accepted", c.Node(1).Connections(), accepted)

	heal(t, c.Node(1))
	if err := put(t.Context(), c.Client(once), "a", to(c.Node(1))); err != nil {
		t.Error(err)
	}
	c.Node(1).Refuse()
	if err := c.Node(1).DropPackets(); err != nil { // a dead machine, after a dead process
		t.Fatal(err)
	}
	wantNoAnswer(t, c, c.Node(1))
	c.Node(1).Refuse()
	wantRefused(t, put(t.Context(), c.Client(once), "a", to(c.Node(1))))
}

func TestDropPacketsWithASingleAddress(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) { o.SingleAddress = true })
	if err := c.Node(1).DropPackets(); err != nil {
		t.Fatal(err)
	}
	wantNoAnswer(t, c, c.Node(1))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Node(1).DropPackets(); err == nil {
		t.Error("a node of a closed cluster was silenced")
	}
}
