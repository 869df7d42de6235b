package integration

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// verified is an option for a cluster that refuses requests whose signature is
// not for the host that received them.
func verified(o *cluster.Options) { o.VerifySignatures = true }

// endpoints returns the endpoints that a plugin knows.
func endpoints(p *middleware.Plugin) []string {
	var list []string
	for _, status := range p.Nodes() {
		list = append(list, status.Endpoint)
	}
	return list
}

func wantEndpoints(t *testing.T, p *middleware.Plugin, want ...string) {
	t.Helper()
	if got := endpoints(p); !slices.Equal(got, want) {
		t.Errorf("the plugin knows the nodes %q, want %q", got, want)
	}
}

// Nodes can be listed by name. The name is what is dialled, signed and, over
// https, verified.
func TestHostNames(t *testing.T) {
	t.Parallel()
	for name, tls := range map[string]bool{"http": false, "https": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := []string{"alpha.example", "Beta.Example", "gamma_1"}
			c := cluster.New(t, verified, func(o *cluster.Options) { o.TLS, o.TLSNames = tls, hosts })
			createTable(t, c, "items", "pk", "S")
			names := newSwitchboard(c)
			for i, host := range hosts {
				names.name(host, i)
			}
			c.SetListed(hosts)
			c.Record(true)
			p := newPlugin(t, c, mode(middleware.AnyWrite), keys("items", "pk"))
			client := attach(t, c, p, names.option)
			port := ":" + portOf(c)
			wantEndpoints(t, p, name+"://alpha.example"+port, name+"://beta.example"+port, name+"://gamma_1"+port)
			for _, status := range p.Nodes() {
				if status.State.String() != "active" {
					t.Errorf("%s is %v", status.Endpoint, status.State)
				}
			}
			for i := range 30 {
				d := send(t, client, batch(writes{"items": {put(item{"pk": str(fmt.Sprint(i))})}}))
				if d.Reason != middleware.ReasonVoted || d.Coordinator != d.Preferred {
					t.Errorf("sent to %s, want %s", d.Coordinator, d.Preferred)
				}
			}
			checkSpread(t, c, "BatchWriteItem")
			for _, r := range c.Requests() {
				if r.Operation == "BatchWriteItem" && (r.Host != hosts[r.Node]+port || !r.SignatureValid) {
					t.Errorf("node %d received a request for %s with a valid signature: %v", r.Node, r.Host, r.SignatureValid)
				}
			}
		})
	}
}

// Real servers list a node's UUID while they do not know its address yet, and
// nodes twice.
func TestEntriesThatAreNoAddresses(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	bad := []string{
		"550e8400-e29b-41d4-a716-446655440000", "http://127.0.0.9", "127.0.0.9:8000", "user@127.0.0.9",
		"127.0.0.9/x", "127.0.0.9 ", "127.0.0.256", "[::1]", "", "a..b",
	}
	c.SetListed(slices.Concat(bad, []string{"127.0.0.2", "127.0.0.1", "127.0.0.2"}, bad, []string{"127.0.0.3", "127.0.0.1"}))
	log := &logbook{}
	p := newPlugin(t, c, quiet, log.option)
	attach(t, c, p)
	for range 3 {
		refresh(t, p)
	}
	wantKnown(t, c, p, 0, 1, 2)
	var want []string
	for _, entry := range bad {
		want = append(want, `the cluster lists "`+entry+`" as a node, which is left out`)
	}
	log.wantLines(t, want...)
}

// Refresh, at the start of a program, comes before the first request, by which
// the final options of the client are known. Its warnings must not be lost.
func TestWarningsOfTheFirstRefreshReachTheLoggerOfTheClient(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(2))
	c.SetListed([]string{"127.0.0.1", "550e8400-e29b-41d4-a716-446655440000"})
	log := &logbook{}
	p := newPlugin(t, c, quiet)
	client := attach(t, c, p, func(o *dynamodb.Options) { o.Logger = log })
	if _, err := client.ListTables(deadline(t), &dynamodb.ListTablesInput{}); err != nil {
		t.Fatal(err)
	}
	refresh(t, p)
	log.wantLines(t, "it is a host ID")
}

func TestTranslatedAddresses(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3), verified)
	createTable(t, c, "items", "pk", "S")
	c.SetListed([]string{"10.0.0.1", "10.0.0.2", "ten.example", "10.0.0.4", "10.0.0.5", "10.0.0.6"})
	log := &logbook{}
	dialled := newSwitchboard(c)
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("items", "pk"), log.option, func(o *middleware.Options) {
		o.TranslateAddress = func(address string) string {
			return map[string]string{
				"10.0.0.1":    "127.0.0.1",
				"10.0.0.2":    "127.0.0.2:" + portOf(c),
				"ten.example": "127.0.0.3",
				"10.0.0.4":    "", // not to be used
				"10.0.0.5":    "http://127.0.0.4",
				"10.0.0.6":    "127.0.0.4:port",
			}[address]
		}
	})
	client := attach(t, c, p, dialled.option)
	wantKnown(t, c, p, 0, 1, 2)
	v := newVoter(t, c)
	for node := range 3 {
		wantVote(t, c, client, batch(writes{"items": v.puts(node)}), node)
	}
	if got := dialled.hosts(); !slices.Equal(got, []string{c.Node(0).HostPort(), c.Node(1).HostPort(), c.Node(2).HostPort()}) {
		t.Errorf("%v were dialled, want the nodes and nothing else", got)
	}
	log.wantLines(t, `"http://127.0.0.4"`, `"127.0.0.4:port"`)
}
