package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// live are the nodes that a plugin knows.
func live(c *cluster.Cluster, p *middleware.Plugin) []int {
	var endpoints []string
	for _, status := range p.Nodes() {
		endpoints = append(endpoints, status.Endpoint)
	}
	return indexes(c, endpoints)
}

// An answer that is no list of nodes changes nothing, and is forgotten with the
// next good one.
func TestABadListOfNodesChangesNothing(t *testing.T) {
	const list = "application/json"
	for name, fault := range map[string]cluster.Fault{
		"HTML":                cluster.GarbleLocalNodes(200, "text/html", "<html><body>It works!</body></html>"),
		"null":                cluster.GarbleLocalNodes(200, list, `null`),
		"an object":           cluster.GarbleLocalNodes(200, list, `{}`),
		"a number among them": cluster.GarbleLocalNodes(200, list, `["",5]`),
		"a null among them":   cluster.GarbleLocalNodes(200, list, `["127.0.0.9",null]`),
		"nothing of use":      cluster.GarbleLocalNodes(200, list, `["","http://127.0.0.9:80","127.0.0.9:80","u@127.0.0.9","/x","a b","ec8ef4f8-0b7a-4bd4-8d3d-6a2d0d3c5b0a"]`),
		"an empty list":       cluster.GarbleLocalNodes(200, list, `[]`),
		"an empty body":       cluster.GarbleLocalNodes(200, list, ``),
		"half a list":         cluster.GarbleLocalNodes(200, list, `["127.0.0.9"`),
		"2 MiB":               cluster.GarbleLocalNodes(200, list, `["127.0.0.9`+strings.Repeat(" ", 2<<20)+`"]`),
		"a list in 2 MiB":     cluster.GarbleLocalNodes(200, list, `["127.0.0.9"]`+strings.Repeat(" ", 2<<20)),
		"a list without end":  cluster.EndlessLocalNodes(),
		"500":                 cluster.GarbleLocalNodes(500, list, `["127.0.0.9"]`),
		"404":                 cluster.GarbleLocalNodes(404, list, `["127.0.0.9"]`),
		"204":                 cluster.GarbleLocalNodes(204, list, ``),
		"a reset":             cluster.ResetAfterRequest().On(cluster.LocalNodes),
		"half an answer":      cluster.ResetMidResponse().On(cluster.LocalNodes),
	} {
		t.Run(name, func(t *testing.T) { checkBadList(t, fault) })
	}
}

// The time that a node may take is short here, so a good answer may take too
// long, too, on a busy machine.
func TestAHangingListOfNodesChangesNothing(t *testing.T) {
	checkBadList(t, cluster.Hang().On(cluster.LocalNodes), func(o *middleware.Options) { o.NodeTimeout = 250 * time.Millisecond })
}

func checkBadList(t *testing.T, fault cluster.Fault, optFns ...func(*middleware.Options)) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, append(optFns, mode(middleware.AnyWrite), keys("orders", "pk"))...)
	client := c.Client(p.Attach)
	refreshed := func() bool { return p.Refresh(deadline(t)) == nil }
	eventually(t, "the list is read", refreshed)
	v := newVoter(t, c)
	in := batch(writes{"orders": v.puts(2, 2, 0)})

	c.Inject(fault)
	for range 2 {
		if err := p.Refresh(deadline(t)); err == nil {
			t.Error("Refresh took the list")
		}
		if got, want := live(c, p), []int{0, 1, 2}; !slices.Equal(got, want) {
			t.Fatalf("the live nodes are %v, want %v", got, want)
		}
		d := send(t, client, in)
		if got, want := votesOf(c, d), []vote{{2, 2}, {0, 1}}; !slices.Equal(got, want) || d.Preferred != c.Node(2).URL() {
			t.Errorf("votes %v for %s, want %v", got, d.Preferred, want)
		}
	}

	heal(t, c)
	if _, err := c.Join(); err != nil {
		t.Fatal(err)
	}
	c.Node(0).Leave()
	eventually(t, "the list is read again", refreshed)
	if got, want := live(c, p), []int{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("the live nodes are %v, want %v", got, want)
	}
}

// What is of use in a list is used.
func TestEntriesThatAreNoAddressesAreLeftOut(t *testing.T) {
	c := cluster.New(t, nodes(3))
	p := newPlugin(t, c)
	c.SetListed([]string{"", "127.0.0.3", "http://127.0.0.2:80", "127.0.0.1", "127.0.0.3",
		"127.0.0.2:8000", "user@127.0.0.2", "ec8ef4f8-0b7a-4bd4-8d3d-6a2d0d3c5b0a", "127.0.0.2/x", "127.0.0.2 "})
	attach(t, c, p)
	if got, want := live(c, p), []int{0, 2}; !slices.Equal(got, want) {
		t.Errorf("the live nodes are %v, want %v", got, want)
	}
}

// The list is refreshed by requests alone: no call of Refresh.
func TestRequestsStartTheRefresh(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	client := c.Client(p.Attach)
	if got := c.Count(cluster.LocalNodes); got != 0 {
		t.Errorf("before the first request %d lists were asked for, want none", got)
	}
	in := batch(writes{"orders": newVoter(t, c).puts(2)})
	if d := send(t, client, in); d.Reason != middleware.ReasonVoted {
		t.Errorf("the first batch has the reason %v, want %v", d.Reason, middleware.ReasonVoted)
	}
	eventually(t, "the batch reaches its node", func() bool { return send(t, client, in).Coordinator == c.Node(2).URL() })
	if got, want := live(c, p), []int{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("the live nodes are %v, want %v", got, want)
	}
}
