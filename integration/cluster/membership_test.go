package cluster_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/keyroute/keyroute/integration/cluster"
)

// wantListed checks what a node answers to /localnodes, in any order.
func wantListed(t *testing.T, c *cluster.Cluster, n *cluster.Node, query string, want ...string) {
	t.Helper()
	r, body := get(t, c, n.URL()+"/localnodes"+query)
	equal(t, "status", r.StatusCode, 200)
	equal(t, "content type", r.Header.Get("Content-Type"), "application/json")
	if strings.ContainsAny(body, " \n") {
		t.Errorf("list %q is not compact", body)
	}
	var got []string
	if err := json.Unmarshal([]byte(body), &got); err != nil || got == nil {
		t.Fatalf("list is %s: %v", body, err)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s lists %v for %q, want %v", n.Address(), got, query, want)
	}
}

// twoDatacenters places nodes 0 and 1 in racks a and b of east, the others in
// rack a of west.
func twoDatacenters(o *cluster.Options) {
	o.Nodes = 4
	o.Place = func(i int) (dc, rack string) {
		return [...]string{"east", "east", "west", "west"}[i], [...]string{"a", "b", "a", "a"}[i]
	}
}

func TestLocalNodesOfDatacentersAndRacks(t *testing.T) {
	c := cluster.New(t, twoDatacenters)
	dc, rack := c.Node(1).Place()
	equal(t, "datacenter and rack", dc+"/"+rack, "east/b")
	for _, test := range []struct {
		node  int
		query string
		want  []string
	}{
		{0, "", []string{"127.0.0.1", "127.0.0.2"}},
		{3, "", []string{"127.0.0.3", "127.0.0.4"}},
		{0, "?dc=&rack=", []string{"127.0.0.1", "127.0.0.2"}},
		{0, "?dc=west", []string{"127.0.0.3", "127.0.0.4"}},
		{0, "?dc=%77est", []string{"127.0.0.3", "127.0.0.4"}},
		{0, "?rack=b", []string{"127.0.0.2"}},
		{3, "?rack=b", nil},
		{3, "?dc=east&rack=a", []string{"127.0.0.1"}},
		{0, "?dc=north", nil},
		{0, "?rack=c", nil},
	} {
		wantListed(t, c, c.Node(test.node), test.query, test.want...)
	}
}

func TestOldServersIgnoreDatacentersAndRacks(t *testing.T) {
	c := cluster.New(t, twoDatacenters, func(o *cluster.Options) { o.IgnorePlace = true })
	wantListed(t, c, c.Node(0), "?dc=west", "127.0.0.1", "127.0.0.2")
	wantListed(t, c, c.Node(3), "?rack=b", "127.0.0.3", "127.0.0.4")
}

func TestLocalNodesNeedsNoSignature(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) { o.VerifySignatures = true })
	wantListed(t, c, c.Node(0), "", "127.0.0.1", "127.0.0.2", "127.0.0.3")
}

func TestLeaveAndRejoin(t *testing.T) {
	c := cluster.New(t)
	c.Node(1).Leave()
	for _, n := range c.Nodes() { // a node that has left goes on serving
		wantListed(t, c, n, "", "127.0.0.1", "127.0.0.3")
	}
	c.Node(1).Rejoin()
	wantListed(t, c, c.Node(2), "", "127.0.0.1", "127.0.0.2", "127.0.0.3")
}

func TestRefusingNodeStaysListed(t *testing.T) {
	c := cluster.New(t)
	c.Node(1).Refuse()
	wantListed(t, c, c.Node(0), "", "127.0.0.1", "127.0.0.2", "127.0.0.3")
	c.Node(1).Leave()
	wantListed(t, c, c.Node(0), "", "127.0.0.1", "127.0.0.3")
}

func TestJoin(t *testing.T) {
	c := cluster.New(t)
	client := c.Client(once)
	createOrders(t, client, false)
	n, err := c.Join()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "address", n.Address(), "127.0.0.4")
	equal(t, "node", c.Node(3), n)
	wantListed(t, c, c.Node(0), "", "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
	wantListed(t, c, n, "", "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
	if err := put(t.Context(), client, "a", to(n)); err != nil {
		t.Fatal(err)
	}
	equal(t, "item written through the new node is there", has(t, client, "a"), true)
}

func TestNodeIsListedBeforeItsPortOpens(t *testing.T) {
	c := cluster.New(t)
	client := c.Client(once)
	createOrders(t, client, false)
	n, err := c.JoinClosed()
	if err != nil {
		t.Fatal(err)
	}
	wantListed(t, c, c.Node(0), "", "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
	wantRefused(t, put(t.Context(), client, "a", to(n)))
	heal(t, n)
	if err := put(t.Context(), client, "a", to(n)); err != nil {
		t.Error(err)
	}
}

func TestSetListed(t *testing.T) {
	c := cluster.New(t)
	// A UUID and duplicates are what real servers can answer, too.
	odd := []string{"127.0.0.2", "127.0.0.2", "67a9c1b3-fdbc-4d6b-a3c6-ba1a2b3cb3f0"}
	c.Node(0).SetListed(odd)
	wantListed(t, c, c.Node(0), "?dc=nowhere", odd...)
	wantListed(t, c, c.Node(1), "", "127.0.0.1", "127.0.0.2", "127.0.0.3")

	c.SetListed([]string{"127.0.0.3"})
	wantListed(t, c, c.Node(0), "", odd...)
	wantListed(t, c, c.Node(1), "", "127.0.0.3")

	c.Node(0).SetListed(nil)
	c.DelistAll()
	for _, n := range c.Nodes() {
		wantListed(t, c, n, "")
	}
	c.SetListed(nil)
	wantListed(t, c, c.Node(0), "", "127.0.0.1", "127.0.0.2", "127.0.0.3")
}
