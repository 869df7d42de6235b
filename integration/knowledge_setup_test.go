package integration

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// brisk is an option for a plugin that refreshes its list all the time, so that
// a test need not wait for what it learns.
func brisk(o *middleware.Options) {
	o.RefreshInterval, o.IdleRefreshInterval = 5*time.Millisecond, 5*time.Millisecond
}

// known returns the nodes that a plugin knows as live, by index; -1 for one that
// is none of the cluster's.
func known(c *cluster.Cluster, p *middleware.Plugin) []int {
	var list []int
	for _, status := range p.Nodes() {
		i := -1
		if n := c.NodeAt(status.Endpoint); n != nil {
			i = n.Index()
		}
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}

// wantKnown checks which nodes a plugin knows.
func wantKnown(t testing.TB, c *cluster.Cluster, p *middleware.Plugin, want ...int) {
	t.Helper()
	if got := known(c, p); !slices.Equal(got, want) {
		t.Errorf("the plugin knows the nodes %v, want %v", got, want)
	}
}

// refresh fetches the list of live nodes, which must succeed.
func refresh(t testing.TB, p *middleware.Plugin) {
	t.Helper()
	if err := p.Refresh(deadline(t)); err != nil {
		t.Fatalf("Refresh: %v", err)
	}
}

// wantCount checks how many requests of an operation a cluster has received.
func wantCount(t testing.TB, c *cluster.Cluster, operation string, want int) {
	t.Helper()
	if got := c.Count(operation); got != want {
		t.Errorf("%d %s were sent, want %d", got, operation, want)
	}
}

// wantVote makes a batch that must be sent to the node that it votes for.
func wantVote(t testing.TB, c *cluster.Cluster, client *dynamodb.Client, in *dynamodb.BatchWriteItemInput, node int) {
	t.Helper()
	d := send(t, client, in)
	if d.Reason != middleware.ReasonVoted || d.Coordinator != c.Node(node).URL() {
		t.Errorf("sent to %s, %v, want %s, voted", d.Coordinator, d.Reason, c.Node(node).URL())
	}
}

// wantNoVote makes a batch that must be spread.
func wantNoVote(t testing.TB, client *dynamodb.Client, in *dynamodb.BatchWriteItemInput) {
	t.Helper()
	if d := send(t, client, in); d.Reason != middleware.ReasonNoVotes {
		t.Errorf("the batch was sent to %s, %v, want it to have no vote", d.Coordinator, d.Reason)
	}
}

// eventuallyVotes makes a batch until the plugin has learnt enough for it to
// have a vote.
func eventuallyVotes(t testing.TB, client *dynamodb.Client, in *dynamodb.BatchWriteItemInput) {
	t.Helper()
	eventually(t, "a batch has a vote", func() bool {
		return send(t, client, in).Reason == middleware.ReasonVoted
	})
}

// underLoad has a client write to the table "items" from several goroutines
// while something else goes on. No write may fail.
func underLoad(t *testing.T, client *dynamodb.Client, meanwhile func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	stop := make(chan struct{})
	var writing sync.WaitGroup
	defer writing.Wait()
	defer close(stop)
	for g := range 3 {
		writing.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				in := batch(writes{"items": {put(item{"pk": str(fmt.Sprint(g, " ", i%50))})}})
				if _, err := client.BatchWriteItem(ctx, in); err != nil {
					t.Errorf("a write failed: %v", err)
					return
				}
			}
		})
	}
	meanwhile()
}

// moreWrites waits until so many more writes have been received.
func moreWrites(t testing.TB, c *cluster.Cluster, n int) {
	t.Helper()
	before := c.Count("BatchWriteItem")
	eventually(t, "requests flow", func() bool { return c.Count("BatchWriteItem") >= before+n })
}

// A logbook is a logger that keeps what it is told.
type logbook struct{ list[string] }

func (l *logbook) Logf(c logging.Classification, format string, args ...any) {
	l.add(string(c) + " " + fmt.Sprintf(format, args...))
}

// option makes it the logger of a plugin.
func (l *logbook) option(o *middleware.Options) { o.Logger = l }

// wantLines checks that as many lines were logged as are given, and that each
// of those is in one of them.
func (l *logbook) wantLines(t testing.TB, want ...string) {
	t.Helper()
	lines := l.take()
	if len(lines) != len(want) {
		t.Errorf("%d lines were logged, want %d:\n%s", len(lines), len(want), strings.Join(lines, "\n"))
	}
	for _, part := range want {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, part) }) {
			t.Errorf("no line has %q:\n%s", part, strings.Join(lines, "\n"))
		}
	}
}

// A roundTripper is a transport of net/http.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through is an option for a client of a cluster whose requests pass through a
// function on their way to the network, which is given as the next transport.
func through(c *cluster.Cluster, f func(r *http.Request, next http.RoundTripper) (*http.Response, error)) func(*dynamodb.Options) {
	client := c.HTTPClient()
	next := client.Transport
	client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) { return f(r, next) })
	return func(o *dynamodb.Options) { o.HTTPClient = client }
}

// A switchboard dials for a client of a cluster. It resolves names as a test
// says, and keeps what was dialled.
type switchboard struct {
	cluster *cluster.Cluster

	mu      sync.Mutex
	names   map[string]string // to the address of a node, without ports
	dialled map[string]bool   // hosts with ports
}

func newSwitchboard(c *cluster.Cluster) *switchboard {
	return &switchboard{cluster: c, names: map[string]string{}, dialled: map[string]bool{}}
}

// name has a name resolved to a node from now on.
func (s *switchboard) name(name string, node int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[name] = s.cluster.Node(node).Address()
}

// hosts returns what was dialled.
func (s *switchboard) hosts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for host := range s.dialled {
		list = append(list, host)
	}
	slices.Sort(list)
	return list
}

func (s *switchboard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.dialled[address] = true
	if to, ok := s.names[host]; ok {
		host = to
	}
	s.mu.Unlock()
	if net.ParseIP(host) == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return s.cluster.DialContext(ctx, network, net.JoinHostPort(host, port))
}

// option makes it the dialler of a client.
func (s *switchboard) option(o *dynamodb.Options) {
	client := s.cluster.HTTPClient()
	client.Transport.(*http.Transport).DialContext = s.dial
	o.HTTPClient = client
}

// portOf is the port of a cluster's nodes.
func portOf(c *cluster.Cluster) string { return strconv.Itoa(c.Port()) }
