package cluster_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/keyroute/keyroute/integration/cluster"
)

func wantRefused(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error is %v, want a refused connection", err)
	}
}

// dialIdle opens a connection on which one request was answered.
func dialIdle(t *testing.T, c *cluster.Cluster, n *cluster.Node) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := c.DialContext(t.Context(), "tcp", n.HostPort())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(bound))
	r := bufio.NewReader(conn)
	roundTrip(t, conn, r, n)
	return conn, r
}

func roundTrip(t *testing.T, conn net.Conn, r *bufio.Reader, n *cluster.Node) {
	t.Helper()
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: "+n.HostPort()+"\r\n\r\n")
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, response.Body)
}

func wantClosed(t *testing.T, r io.Reader) {
	t.Helper()
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a closed connection reads as %v, want EOF", err)
	}
}

func TestRefuse(t *testing.T) {
	c, client := faultyCluster(t)
	conn, r := dialIdle(t, c, c.Node(1))
	defer conn.Close()
	c.Node(1).Refuse()
	wantClosed(t, r)
	wantRefused(t, put(t.Context(), client, "a", to(c.Node(1))))
	if err := put(t.Context(), client, "a", to(c.Node(2))); err != nil {
		t.Error(err)
	}
	c.Node(1).Refuse() // once more changes nothing
	heal(t, c.Node(1))
	if err := put(t.Context(), client, "a", to(c.Node(1))); err != nil {
		t.Error(err)
	}
}

func TestRefuseAndHealAgainAndAgain(t *testing.T) {
	c, _ := faultyCluster(t)
	for range 20 {
		// Clients are new, because one with an idle connection can take a
		// while to see that it was closed.
		if err := put(t.Context(), c.Client(once), "a"); err != nil {
			t.Fatal(err)
		}
		c.Node(0).Refuse()
		wantRefused(t, put(t.Context(), c.Client(once), "a"))
		heal(t, c.Node(0))
	}
}

// TestNodeDiesOfARequest closes the node while it is at work on a request.
func TestNodeDiesOfARequest(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(0).Before(func(operation string, r *http.Request) {
		if operation == "PutItem" {
			c.Node(0).Refuse()
		}
	})
	if err := put(t.Context(), client, "a"); err == nil {
		t.Error("a dead node answered")
	}
	c.Node(0).Before(nil)
	heal(t, c.Node(0))
	if err := put(t.Context(), c.Client(once), "a"); err != nil {
		t.Error(err)
	}
}

func TestCloseIdle(t *testing.T) {
	c, client := faultyCluster(t)
	_, idle := dialIdle(t, c, c.Node(0))

	release := make(chan struct{})
	c.Node(0).Inject(cluster.Hold(release).On("PutItem"))
	answered := make(chan error)
	go func() { answered <- put(t.Context(), client, "a") }()
	await(t, c.Node(0), "PutItem", 1)

	c.Node(0).CloseIdle()
	wantClosed(t, idle)
	close(release) // the connection with a request on it was left alone
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := put(t.Context(), c.Client(once), "b"); err != nil {
		t.Error(err)
	}
}

func TestHealHealsAllNodes(t *testing.T) {
	c, client := faultyCluster(t)
	c.Inject(cluster.CloseAfterRequest())
	c.Node(1).Refuse()
	for _, n := range c.Nodes() {
		if put(t.Context(), client, "a", to(n)) == nil {
			t.Error("a faulty node answered")
		}
	}
	if err := c.Heal(); err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes() {
		if err := put(t.Context(), c.Client(once), "a", to(n)); err != nil {
			t.Error(err)
		}
	}
}
