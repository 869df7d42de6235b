package discovery

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go/logging"

	"github.com/keyroute/keyroute/resolver"
)

// NodesConfig is what [NewNodes] needs. Zero durations are replaced by their
// defaults.
type NodesConfig struct {
	// Seeds are the nodes to start from, at least one. All must have the same
	// scheme; the first one's port is the port of the cluster.
	Seeds []*resolver.Node

	// Scope says which nodes take requests. Default: the whole cluster.
	Scope Scope

	// TranslateAddress, if set, maps an address as the cluster advertises it to
	// one that this client can reach, "host" or "host:port". An empty result
	// leaves the node out. It is called concurrently.
	TranslateAddress func(address string) string

	// RefreshInterval is the time between two refreshes while requests flow
	// (default 10 s), IdleRefreshInterval while they do not (default 1 min, and
	// never less than RefreshInterval). Both vary by a tenth, so that clients do
	// not keep step.
	RefreshInterval     time.Duration
	IdleRefreshInterval time.Duration

	// Timeout is how long one node may take to answer. Default 5 s.
	Timeout time.Duration

	// ProbeInterval is how often a node that is not active is asked whether it
	// is back (default 30 s), Health at which counts it changes its state. With
	// HealthDisabled every node counts as active and nothing is probed.
	ProbeInterval  time.Duration
	Health         Thresholds
	HealthDisabled bool

	// Logger is told what a person must act on. Default: nothing is logged.
	Logger logging.Logger
}

func (c NodesConfig) withDefaults() NodesConfig {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.RefreshInterval, 10 * time.Second},
		{&c.IdleRefreshInterval, time.Minute},
		{&c.Timeout, 5 * time.Second},
		{&c.ProbeInterval, 30 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	c.IdleRefreshInterval = max(c.IdleRefreshInterval, c.RefreshInterval)
	c.Health = c.Health.withDefaults()
	return c
}

func (c NodesConfig) validate() error {
	if len(c.Seeds) == 0 {
		return errors.New("keyroute: there are no seeds")
	}
	for _, s := range c.Seeds[1:] {
		if s.Scheme() != c.Seeds[0].Scheme() {
			return errors.New("keyroute: the seeds " + c.Seeds[0].String() + " and " + s.String() + " differ in their scheme")
		}
	}
	if min(c.RefreshInterval, c.IdleRefreshInterval, c.Timeout, c.ProbeInterval) < 0 {
		return errors.New("keyroute: a discovery interval or timeout is negative")
	}
	if err := c.Health.validate(); err != nil {
		return err
	}
	return c.Scope.Validate()
}

// A View is the nodes of a cluster at one moment: the ring that choices are
// made from, and the health of each node of it. It is immutable, apart from the
// health itself.
type View struct {
	// Ring is the live nodes.
	Ring *resolver.Ring

	members []*Member // by ring index
	seeds   []*Member // those that are not in the ring
}

// Member returns the health of the node with a ring index.
func (v *View) Member(i int) *Member { return v.members[i] }

// all returns the members of the ring and the seeds that are not in it.
func (v *View) all() []*Member { return slices.Concat(v.members, v.seeds) }

// Seeds returns the seeds that are not in the ring, to be tried when every node
// of the ring failed. The slice is not the caller's.
func (v *View) Seeds() []*Member { return v.seeds }

// Nodes keeps the list of live nodes. It is safe for concurrent use.
type Nodes struct {
	config NodesConfig
	seeds  *resolver.Ring
	view   atomic.Pointer[View]
	client atomic.Pointer[HTTPClient]

	warnings     *warner
	placeChecked atomic.Bool // whether the servers heed datacenter and rack is known

	used       atomic.Bool   // by a request, since the last refresh
	fault      chan struct{} // a request met a node that gave no answer
	probeSoon  chan struct{} // there may be nodes to probe
	refreshing chan struct{} // holds a token while a refresh runs
	probing    chan struct{} // holds a token for each probe that runs
	ctx        context.Context
	stop       context.CancelFunc
	running    sync.WaitGroup

	mu       sync.Mutex
	started  bool
	closed   bool
	members  map[string]*Member // by canonical endpoint; also of nodes that left
	lastErr  error              // of the last refresh
	counters RefreshCounters

	groups []group // the last good answers; of whoever holds the token of refreshing
}

// NewNodes returns the nodes of a cluster, which are its seeds until Start or
// Refresh learns more. It does no I/O. The error says what is wrong with the
// configuration.
func NewNodes(config NodesConfig) (*Nodes, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	config.Seeds = slices.Clone(config.Seeds)
	n := &Nodes{
		config:     config,
		seeds:      resolver.NewRing(config.Seeds...),
		fault:      make(chan struct{}, 1),
		probeSoon:  make(chan struct{}, 1),
		refreshing: make(chan struct{}, 1),
		probing:    make(chan struct{}, maxParallel),
		members:    map[string]*Member{},
		warnings:   newWarner(config.Logger),
	}
	n.ctx, n.stop = context.WithCancel(context.Background())
	n.publish(n.seeds)
	return n, nil
}

// Start begins to refresh the list in the background through an HTTP client,
// once; a later call only replaces the client. After Close, or without a
// client, it does nothing.
func (n *Nodes) Start(client HTTPClient) {
	if client == nil {
		return
	}
	n.client.Store(&client)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.started || n.closed {
		return
	}
	n.started = true
	n.running.Go(n.refreshLoop)
	if !n.config.HealthDisabled {
		n.running.Go(n.probeLoop)
	}
}

// View returns the nodes as they are known now. It never blocks.
func (n *Nodes) View() *View { return n.view.Load() }

// MarkUsed tells that requests flow. It never blocks and is cheap.
func (n *Nodes) MarkUsed() {
	if !n.used.Load() {
		n.used.Store(true)
	}
}

// Report takes the outcome of a request to a node into account. After a failure
// the list is refreshed at once, but at most once a second.
func (n *Nodes) Report(m *Member, o Outcome, generation uint64) {
	m.Observe(o, generation)
	if o == TrafficFailure {
		signal(n.fault)
		signal(n.probeSoon)
	}
}

// signal wakes the reader of a channel with room for one, who need not be told
// twice.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Close stops the background work and waits until it has stopped or ctx is
// done, in which case it returns its error. It may be called any number of
// times. The last view stays readable.
func (n *Nodes) Close(ctx context.Context) error {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.stop()
	return wait(ctx, &n.running)
}

// wait waits for a group, or until ctx is done. The goroutine that it starts
// ends with the group.
func wait(ctx context.Context, group *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// publish makes a ring the current one, if it is another.
func (n *Nodes) publish(ring *resolver.Ring) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if v := n.view.Load(); v != nil && v.Ring.Equal(ring) {
		return
	}
	v := &View{Ring: ring, members: make([]*Member, ring.Len())}
	for i := range v.members {
		v.members[i] = n.memberLocked(ring.Node(i))
	}
	for _, seed := range n.seeds.Nodes() {
		if _, ok := ring.Index(seed.String()); !ok {
			v.seeds = append(v.seeds, n.memberLocked(seed))
		}
	}
	n.forgetLocked(v)
	n.view.Store(v)
	n.counters.Changes++
}

// memberLocked returns the member for a node, with the history that it left
// with if it was here before.
func (n *Nodes) memberLocked(node *resolver.Node) *Member {
	m, ok := n.members[node.String()]
	if !ok {
		var thresholds *Thresholds
		if !n.config.HealthDisabled {
			thresholds = &n.config.Health
		}
		m = newMember(node, thresholds)
		n.members[node.String()] = m
	}
	return m
}

// membersOf returns the members for some nodes.
func (n *Nodes) membersOf(nodes []*resolver.Node) []*Member {
	n.mu.Lock()
	defer n.mu.Unlock()
	members := make([]*Member, len(nodes))
	for i, node := range nodes {
		members[i] = n.memberLocked(node)
	}
	return members
}

// forgetLocked drops the histories of nodes that left when they outnumber those
// that are here by far, as in a cluster whose addresses never come back.
func (n *Nodes) forgetLocked(v *View) {
	kept := len(v.members) + len(v.seeds)
	if len(n.members) <= 4*kept+64 {
		return
	}
	members := make(map[string]*Member, kept)
	for _, m := range v.all() {
		members[m.node.String()] = m
	}
	n.members = members
}

// Statuses returns a snapshot of the live nodes in canonical order.
func (n *Nodes) Statuses() []Status {
	v := n.View()
	statuses := make([]Status, len(v.members))
	for i, m := range v.members {
		statuses[i] = m.status()
	}
	return statuses
}

// RefreshCounters count what refreshing did since the start.
type RefreshCounters struct {
	// Refreshes is how many times the list was fetched, Failures how many of
	// them got no good answer, Changes how often the list became another one,
	// the seeds counted.
	Refreshes, Failures, Changes uint64
	// Probes is how many times a node was asked whether it answers.
	Probes uint64
}

// Counters returns what refreshing did so far, and the error of the last
// refresh if it failed.
func (n *Nodes) Counters() (RefreshCounters, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counters, n.lastErr
}
