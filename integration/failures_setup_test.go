package integration

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// A scene is a cluster with the table "items", key "pk", and a client of it that
// routes every write.
type scene struct {
	*cluster.Cluster
	t      testing.TB
	plugin *middleware.Plugin
	client *dynamodb.Client
	pool   *http.Client // holds the connections of the client
	ctx    context.Context
}

// newScene starts n nodes, all of which the client knows to be active. Node 0
// is the only seed.
func newScene(t testing.TB, n int, optFns ...func(*middleware.Options)) *scene {
	t.Helper()
	return newSceneOf(t, cluster.New(t, nodes(n)), nil, optFns...)
}

// newSceneOf does so with a cluster, and with what a user sets on a client
// before the plugin is attached to it.
func newSceneOf(t testing.TB, c *cluster.Cluster, client func(*dynamodb.Options), optFns ...func(*middleware.Options)) *scene {
	t.Helper()
	createTable(t, c, "items", "pk", "S")
	s := &scene{Cluster: c, t: t}
	s.plugin = newPlugin(t, c, append([]func(*middleware.Options){
		mode(middleware.AnyWrite), keys("items", "pk"), quiet}, optFns...)...)
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	options := c.ClientOptions()
	s.pool = options.HTTPClient.(*http.Client)
	if client != nil {
		client(&options)
	}
	s.client = dynamodb.New(options, s.plugin.Attach)
	if err := s.plugin.Refresh(s.ctx); err != nil {
		t.Fatalf("Refresh: %v", err)
	}
	for i, status := range s.health() {
		if status.State != discovery.Active {
			t.Fatalf("node %d is %v at the start", i, status.State)
		}
	}
	return s
}

// quiet is an option for a plugin that asks nodes nothing on its own account,
// so that what it knows of them comes from the requests of a test alone.
func quiet(o *middleware.Options) {
	o.RefreshInterval, o.IdleRefreshInterval, o.Health.ProbeInterval = time.Hour, time.Hour, time.Hour
}

// downAtOnce is an option for a plugin that takes a node down at its first
// failure. It makes tests strict: the least blame shows.
func downAtOnce(o *middleware.Options) {
	o.Health.ActiveFailures, o.Health.QuarantineFailures = 1, 1
}

// withRetryer is what a user sets on a client.
func withRetryer(r aws.Retryer) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.Retryer = r }
}

// writeTo returns a write to an item that prefers a node.
func (s *scene) writeTo(node int) *dynamodb.BatchWriteItemInput {
	s.t.Helper()
	return batch(writes{"items": {put(item{"pk": keyPreferring(s.t, s.Cluster, node)})}})
}

// outcome is how a call went that did not fail.
type outcome struct {
	middleware.Decision
	attempts int
	tried    []int // nodes
}

// write makes a write to an item that prefers a node, which must not fail.
func (s *scene) write(node int, optFns ...func(*dynamodb.Options)) outcome {
	s.t.Helper()
	out, err := s.client.BatchWriteItem(s.ctx, s.writeTo(node), optFns...)
	if err != nil {
		s.t.Fatalf("a write for node %d failed: %v", node, err)
	}
	return s.outcome(out.ResultMetadata)
}

func (s *scene) outcome(metadata smithymiddleware.Metadata) outcome {
	s.t.Helper()
	o := outcome{Decision: decision(s.t, metadata)}
	results, ok := retry.GetAttemptResults(metadata)
	if !ok {
		s.t.Fatal("the SDK tells no attempts")
	}
	o.attempts = len(results.Results)
	for _, endpoint := range o.Tried {
		o.tried = append(o.tried, s.NodeAt(endpoint).Index())
	}
	return o
}

// want checks the nodes that a call tried, and in how many attempts.
func (s *scene) want(o outcome, attempts int, tried ...int) {
	s.t.Helper()
	if !slices.Equal(o.tried, tried) || o.attempts != attempts {
		s.t.Fatalf("tried nodes %v in %d attempts, want %v in %d", o.tried, o.attempts, tried, attempts)
	}
}

// order returns the nodes in the order in which a write that prefers a node
// tries them: that node, and behind it the others in canonical order.
func (s *scene) order(node int) []int {
	order := []int{node}
	for _, n := range ringOf(s.t, s.Cluster).Nodes() {
		if i := s.NodeAt(n.String()).Index(); i != node {
			order = append(order, i)
		}
	}
	return order
}

// health returns the health of each node, by its index.
func (s *scene) health() map[int]discovery.Status {
	health := map[int]discovery.Status{}
	for _, status := range s.plugin.Nodes() {
		health[s.NodeAt(status.Endpoint).Index()] = status
	}
	return health
}

// wantWell checks that these nodes are active and not suspected.
func (s *scene) wantWell(nodes ...int) {
	s.t.Helper()
	health := s.health()
	for _, n := range nodes {
		if status := health[n]; status.State != discovery.Active || status.SuspectedFor != 0 {
			s.t.Errorf("node %d is %v and suspected for %v, want it well", n, status.State, status.SuspectedFor)
		}
	}
}

// wantDown checks that these nodes are down. It is for clients that take nodes
// down at once.
func (s *scene) wantDown(nodes ...int) {
	s.t.Helper()
	health := s.health()
	for _, n := range nodes {
		if state := health[n].State; state != discovery.Down {
			s.t.Errorf("node %d is %v, want it down", n, state)
		}
	}
}

// whileSuspected makes a write for a node that is suspected and stays so for
// the whole of the call. The suspicion of a node that is still dead becomes
// longer each time that it ends too early for that.
func (s *scene) whileSuspected(node int) outcome {
	s.t.Helper()
	for s.ctx.Err() == nil {
		started, left := time.Now(), s.health()[node].SuspectedFor
		if o := s.write(node); time.Since(started) < left {
			return o
		}
	}
	s.t.Fatalf("node %d is not suspected", node)
	return outcome{}
}

// refuse has nodes refuse connections. The client has forgotten those it had:
// that one of them was closed is noticed a moment later, and a request may be on
// it by then.
func (s *scene) refuse(nodes ...int) {
	for _, n := range nodes {
		s.Node(n).Refuse()
	}
	s.pool.CloseIdleConnections()
}

// heal heals nodes, or all of them.
func (s *scene) heal(nodes ...int) {
	s.t.Helper()
	if len(nodes) == 0 {
		if err := s.Heal(); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, n := range nodes {
		if err := s.Node(n).Heal(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// account is a Retryer that keeps account of what it is asked for. Its back-off
// is short, whatever the error.
type account struct {
	aws.RetryerV2

	mu                             sync.Mutex
	attemptTokens, attemptReleases int
	retryTokens, retryReleases     int
	delays                         []int // the attempts that were followed by a back-off
	onDelay                        func()
	delay                          time.Duration
}

func newAccount() *account {
	return &account{RetryerV2: retry.NewStandard(), delay: time.Millisecond}
}

func (a *account) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	release, err := a.RetryerV2.GetAttemptToken(ctx)
	a.mu.Lock()
	a.attemptTokens++
	a.mu.Unlock()
	return a.counting(release, &a.attemptReleases), err
}

func (a *account) GetRetryToken(ctx context.Context, err error) (func(error) error, error) {
	release, tokenErr := a.RetryerV2.GetRetryToken(ctx, err)
	a.mu.Lock()
	a.retryTokens++
	a.mu.Unlock()
	return a.counting(release, &a.retryReleases), tokenErr
}

func (a *account) counting(release func(error) error, n *int) func(error) error {
	return func(err error) error {
		a.mu.Lock()
		*n++
		a.mu.Unlock()
		return release(err)
	}
}

func (a *account) RetryDelay(attempt int, _ error) (time.Duration, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.delays = append(a.delays, attempt)
	if a.onDelay != nil {
		a.onDelay()
	}
	return a.delay, nil
}

// want checks the account: a token for each of so many attempts, and one for
// each back-off, behind the attempts with the given numbers.
func (a *account) want(t testing.TB, attempts int, delays ...int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.attemptTokens != attempts || a.attemptReleases != attempts {
		t.Errorf("%d attempt tokens were taken and %d released, want %d", a.attemptTokens, a.attemptReleases, attempts)
	}
	if a.retryTokens != len(delays) || a.retryReleases != len(delays) {
		t.Errorf("%d retry tokens were taken and %d released, want %d", a.retryTokens, a.retryReleases, len(delays))
	}
	if !slices.Equal(a.delays, delays) {
		t.Errorf("back-off behind attempts %v, want %v", a.delays, delays)
	}
}

func wantEqual[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
