package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/smithy-go/logging"

	"github.com/keyroute/keyroute/resolver"
)

// A fakeCluster is the HTTP client of a cluster without a network, so that it
// can be used where time is faked. Nodes that were not told how to answer
// refuse connections.
type fakeCluster struct {
	mu      sync.Mutex
	nodes   map[string]answer // by host without port
	polls   []poll
	running int
	most    int // that ran at a time
}

// An answer is how a node answers a request for its /localnodes.
type answer func(*http.Request) (*http.Response, error)

// A poll is one such request.
type poll struct {
	at    time.Time
	host  string
	query string
}

func newFakeCluster() *fakeCluster { return &fakeCluster{nodes: map[string]answer{}} }

// set has nodes answer in some way from now on.
func (c *fakeCluster) set(a answer, hosts ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, host := range hosts {
		c.nodes[host] = a
	}
}

// setDatacenter has the given nodes list each other.
func (c *fakeCluster) setDatacenter(hosts ...string) { c.set(lists(hosts...), hosts...) }

// Do implements HTTPClient.
func (c *fakeCluster) Do(r *http.Request) (*http.Response, error) {
	host := r.URL.Hostname()
	c.mu.Lock()
	c.polls = append(c.polls, poll{at: time.Now(), host: host, query: r.URL.RawQuery})
	c.running++
	c.most = max(c.most, c.running)
	a := c.nodes[host]
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.running--
		c.mu.Unlock()
	}()
	if a == nil {
		a = refuses
	}
	return a(r)
}

// taken returns the polls since it was last called.
func (c *fakeCluster) taken() []poll {
	c.mu.Lock()
	defer c.mu.Unlock()
	polls := c.polls
	c.polls = nil
	return polls
}

// atATime returns how many polls ran at a time, at most.
func (c *fakeCluster) atATime() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}

// times returns when a host was polled, as durations since a point in time.
func times(polls []poll, host string, since time.Time) []time.Duration {
	var at []time.Duration
	for _, p := range polls {
		if p.host == host {
			at = append(at, p.at.Sub(since))
		}
	}
	return at
}

// hosts returns the hosts that were polled, sorted.
func hosts(polls []poll) []string {
	var names []string
	for _, p := range polls {
		names = append(names, p.host)
	}
	slices.Sort(names)
	return names
}

func answers(status int, body string) answer {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

func lists(addresses ...string) answer {
	body, err := json.Marshal(append([]string{}, addresses...))
	if err != nil {
		panic(err)
	}
	return answers(http.StatusOK, string(body))
}

// listsBy answers by the query, "" for none; a query that is not in the map has
// no nodes.
func listsBy(byQuery map[string][]string) answer {
	return func(r *http.Request) (*http.Response, error) { return lists(byQuery[r.URL.RawQuery]...)(r) }
}

var errRefused = errors.New("connection refused")

func refuses(*http.Request) (*http.Response, error) { return nil, errRefused }

// hangs gives no answer until the request is cancelled.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// after answers when some time is over.
func after(d time.Duration, a answer) answer {
	return func(r *http.Request) (*http.Response, error) {
		if !sleep(r.Context(), d) {
			return nil, r.Context().Err()
		}
		return a(r)
	}
}

func parseNodes(t testing.TB, endpoints ...string) []*resolver.Node {
	t.Helper()
	nodes := make([]*resolver.Node, len(endpoints))
	for i, endpoint := range endpoints {
		node, err := resolver.ParseNode(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = node
	}
	return nodes
}

// newNodes returns nodes that are closed at the end of the test.
func newNodes(t testing.TB, config NodesConfig, seeds ...string) *Nodes {
	t.Helper()
	config.Seeds = parseNodes(t, seeds...)
	n, err := NewNodes(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return n
}

// ring returns the canonical endpoints of the ring.
func ring(n *Nodes) []string {
	var endpoints []string
	for _, node := range n.View().Ring.Nodes() {
		endpoints = append(endpoints, node.String())
	}
	return endpoints
}

// endpoints returns those of nodes on port 8000, in ring order.
func endpoints(hosts ...string) []string {
	var list []string
	for _, host := range hosts {
		list = append(list, "http://"+host+":8000")
	}
	slices.Sort(list)
	return list
}

func wantRing(t testing.TB, n *Nodes, want ...string) {
	t.Helper()
	if got := ring(n); !slices.Equal(got, want) {
		t.Errorf("ring %q, want %q", got, want)
	}
}

// memberOf returns the member with a canonical endpoint.
func memberOf(t testing.TB, n *Nodes, endpoint string) *Member {
	t.Helper()
	for _, m := range n.View().all() {
		if m.Node().String() == endpoint {
			return m
		}
	}
	t.Fatalf("there is no member %s in %q", endpoint, ring(n))
	return nil
}

// logs is a logger that keeps what it is told.
type logs struct {
	mu    sync.Mutex
	lines []string
}

// Logf implements logging.Logger.
func (l *logs) Logf(c logging.Classification, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(c)+" "+fmt.Sprintf(format, args...))
}

// with returns the lines that have a text in them.
func (l *logs) with(text string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// manyAddresses returns different IPv4 addresses.
func manyAddresses(count int) []string {
	addresses := make([]string, count)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("10.1.%d.%d", i/250, 1+i%250)
	}
	return addresses
}
