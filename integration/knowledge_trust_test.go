package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// Requests carry a signature and data. Whoever can answer for /localnodes says
// which addresses get them, but nothing else: no other scheme, port or host
// than an entry plainly names.

// trickery are entries that a careless client would take for a host of their
// author's choice.
var trickery = []string{
	"evil.example@127.0.0.1", "127.0.0.1@evil.example", "user:password@evil.example", "http://evil.example",
	"//evil.example", "evil.example/", "evil.example:80", "127.0.0.1#.evil.example", "127.0.0.1?evil.example",
	"127.0.0.1\\.evil.example", "evil.example%00", "evil.example\r\nX-Evil: 1", "[evil.example]", "[::1]@evil.example",
	"evil example", "evil.example\t", "*.evil.example", "évil.example", "127.1", "0x7f.1", "2130706433", "",
}

func TestTrickeryInTheList(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3), verified)
	createTable(t, c, "items", "pk", "S")
	dialled := newSwitchboard(c)
	dialled.name("evil.example", 0) // so that it would work
	c.SetListed(slices.Concat(trickery, []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}))
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("items", "pk"))
	client := attach(t, c, p, dialled.option)
	wantKnown(t, c, p, 0, 1, 2)
	for i := range 30 {
		send(t, client, batch(writes{"items": {put(item{"pk": str(fmt.Sprint(i))})}}))
	}
	wantDialled(t, c, dialled)
}

// wantDialled checks that all nodes of a cluster were dialled and nothing else.
func wantDialled(t *testing.T, c *cluster.Cluster, s *switchboard) {
	t.Helper()
	var want []string
	for _, n := range c.Nodes() {
		want = append(want, n.HostPort())
	}
	slices.Sort(want)
	if got := s.hosts(); !slices.Equal(got, want) {
		t.Errorf("%q were dialled, want %q", got, want)
	}
}

// TestTrickeryInATranslation is about a user's own function, which is trusted
// to name a host, not to change the scheme.
func TestTrickeryInATranslation(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(2))
	createTable(t, c, "items", "pk", "S")
	var listed []string
	for i := range trickery {
		listed = append(listed, fmt.Sprintf("10.0.1.%d", i))
	}
	c.SetListed(append(listed, "127.0.0.1", "127.0.0.2"))
	dialled := newSwitchboard(c)
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("items", "pk"), func(o *middleware.Options) {
		o.TranslateAddress = func(address string) string {
			if i := slices.Index(listed, address); i >= 0 {
				return strings.Replace(trickery[i], "evil.example:80", "evil.example:80:80", 1)
			}
			return address
		}
	})
	client := attach(t, c, p, dialled.option)
	wantKnown(t, c, p, 0, 1)
	for i := range 20 {
		send(t, client, batch(writes{"items": {put(item{"pk": str(fmt.Sprint(i))})}}))
	}
	wantDialled(t, c, dialled)
}

// An https cluster is never reached over http, whatever a list or a translation
// says.
func TestHTTPSStaysHTTPS(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3), verified, func(o *cluster.Options) { o.TLS = true })
	createTable(t, c, "items", "pk", "S")
	c.SetListed([]string{"http://127.0.0.1", "http:127.0.0.1", "127.0.0.2:80", "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"})
	var plain list[string]
	watch := through(c, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if r.URL.Scheme != "https" {
			plain.add(r.URL.String())
		}
		return next.RoundTrip(r)
	})
	p := newPlugin(t, c, mode(middleware.AnyWrite), func(o *middleware.Options) {
		o.TranslateAddress = func(address string) string {
			return map[string]string{"127.0.0.3": "127.0.0.3:" + portOf(c), "127.0.0.4": "http://127.0.0.4:" + portOf(c)}[address] +
				map[string]string{"127.0.0.1": address, "127.0.0.2": address}[address]
		}
	})
	client := attach(t, c, p, watch)
	wantKnown(t, c, p, 0, 1, 2)
	v := newVoter(t, c)
	eventuallyVotes(t, client, batch(writes{"items": v.puts(0)}))
	for node := range 3 {
		wantVote(t, c, client, batch(writes{"items": v.puts(node)}), node)
	}
	// Not even if nothing else answers.
	c.Inject(cluster.CloseAfterRequest())
	if _, err := client.ListTables(deadline(t), &dynamodb.ListTablesInput{}, impatient(2)); err == nil {
		t.Error("a call succeeded though no node answers")
	}
	if got := plain.take(); len(got) > 0 {
		t.Errorf("sent without TLS: %q", got)
	}
}

// A certificate that is not for the address of a node makes it unreachable; the
// others serve.
func TestANodeWithTheCertificateOfAnother(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(2), func(o *cluster.Options) { o.TLS = true })
	createTable(t, c, "items", "pk", "S")
	names := newSwitchboard(c)
	names.name("impostor.example", 1)
	c.SetListed([]string{"127.0.0.1", "impostor.example"})
	p := newPlugin(t, c, quiet, mode(middleware.AnyWrite), keys("items", "pk"))
	client := attach(t, c, p, names.option)
	wantEndpoints(t, p, c.Node(0).URL(), "https://impostor.example:"+portOf(c))
	for i := range 20 {
		d := send(t, client, batch(writes{"items": {put(item{"pk": str(fmt.Sprint(i))})}}))
		if d.Coordinator != c.Node(0).URL() {
			t.Errorf("sent to %s", d.Coordinator)
		}
	}
	if got := c.Node(1).Count(cluster.Operations) + c.Node(1).Count(cluster.LocalNodes); got != 0 {
		t.Errorf("%d requests reached the node", got)
	}
}

// What the client itself is pointed at does not matter once there are seeds.
func TestTheBaseEndpointIsNotAskedWhenThereAreSeeds(t *testing.T) {
	t.Parallel()
	c, other := cluster.New(t, nodes(2)), cluster.New(t, nodes(1))
	client := attach(t, c, newPlugin(t, c), func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(other.Node(0).URL()) })
	for range 20 {
		if _, err := client.ListTables(deadline(t), &dynamodb.ListTablesInput{}); err != nil {
			t.Fatal(err)
		}
	}
	wantCount(t, other, cluster.Operations, 0)
	wantCount(t, other, cluster.LocalNodes, 0)
}
