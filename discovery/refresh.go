package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/smithy-go/logging"

	"github.com/keyroute/keyroute/resolver"
)

const (
	// minRefreshInterval keeps faults from becoming a storm of refreshes.
	minRefreshInterval = time.Second

	// maxParallel is how many nodes are asked at a time.
	maxParallel = 4

	// maxAsked is how many nodes that are not seeds a refresh asks about one
	// scope, or about one datacenter, for want of a good answer.
	maxAsked = 3
)

// refreshLoop refreshes the list until Close: at once, then in the rhythm of
// the configuration, and after a fault.
func (n *Nodes) refreshLoop() {
	_ = n.refresh(n.ctx) // what failed is counted and logged
	last, idle := time.Now(), jitter(n.config.IdleRefreshInterval)
	timer := time.NewTimer(min(jitter(n.config.RefreshInterval), idle))
	defer timer.Stop()
	for {
		due := false
		select {
		case <-n.ctx.Done():
			return
		case <-n.fault:
			if !sleep(n.ctx, minRefreshInterval-time.Since(last)) {
				return
			}
			drain(n.fault) // those that came in the meantime
			due = true
		case <-timer.C:
			// An idle client lets its turns pass until the idle interval is over.
			due = n.used.Load() || time.Since(last) >= idle
		}
		if due {
			n.used.Store(false)
			_ = n.refresh(n.ctx)
			last, idle = time.Now(), jitter(n.config.IdleRefreshInterval)
		}
		timer.Reset(min(jitter(n.config.RefreshInterval), idle-time.Since(last)))
	}
}

// drain takes back a signal that nobody read yet.
func drain(c <-chan struct{}) {
	select {
	case <-c:
	default:
	}
}

// jitter varies a duration by a tenth in either direction.
func jitter(d time.Duration) time.Duration {
	tenth := d / 10
	if d > math.MaxInt64-tenth {
		return d // as good as forever
	}
	return d - tenth + rand.N(2*tenth+1)
}

// sleep waits for d, if it is positive, and reports false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Refresh fetches the list now, through the client that Start was given, and
// asks each node that was not known before whether it answers. While another
// refresh runs it waits for its end first. The error tells why there was no
// good answer; the last good list stays. After Close there is none.
func (n *Nodes) Refresh(ctx context.Context) error {
	if n.client.Load() == nil {
		return errNoClient
	}
	if n.ctx.Err() != nil {
		return errClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(n.ctx, func() { cancel(errClosed) })()
	if err := n.refresh(ctx); err != nil {
		return err
	}
	n.probeNew(ctx)
	return nil
}

var (
	errClosed   = errors.New("keyroute: closed")
	errNoClient = errors.New("keyroute: the nodes have no HTTP client yet")
)

// refresh fetches the list and publishes it. What ctx cut short is not counted
// as a refresh.
func (n *Nodes) refresh(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case n.refreshing <- struct{}{}:
		defer func() { <-n.refreshing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	ring, err := n.fetch(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	n.record(err)
	if err == nil {
		n.publish(ring)
	}
	signal(n.probeSoon) // there are new nodes, or those that were asked are suspected
	return err
}

// record counts a refresh and logs the first of several failures in a row.
func (n *Nodes) record(err error) {
	n.mu.Lock()
	first := err != nil && n.lastErr == nil
	n.counters.Refreshes++
	if err != nil {
		n.counters.Failures++
	}
	n.lastErr = err
	n.mu.Unlock()
	if first && n.config.Logger != nil {
		n.config.Logger.Logf(logging.Warn, "keyroute: the list of live nodes stays as it was, refreshing it failed: %v", err)
	}
}

// fetch asks for the nodes of the scope, or of its fallbacks.
func (n *Nodes) fetch(ctx context.Context) (*resolver.Ring, error) {
	var failures []error
	for scope := &n.config.Scope; scope != nil; scope = scope.fallback {
		nodes, err := n.fetchScope(ctx, scope)
		if err == nil {
			if len(failures) > 0 {
				n.warnings.warn("fallback "+scope.name(), "the nodes of scope %s take the requests: %v", scope.name(), errors.Join(failures...))
			}
			return resolver.NewRing(nodes...), nil
		}
		failures = append(failures, fmt.Errorf("scope %s: %w", scope.name(), err))
	}
	return nil, errors.Join(failures...)
}

func (n *Nodes) fetchScope(ctx context.Context, scope *Scope) ([]*resolver.Node, error) {
	if scope.kind == clusterScope {
		return n.fetchCluster(ctx)
	}
	var failures []error
	for _, m := range n.askable() {
		nodes, err := n.ask(ctx, m, scope.query())
		if err == nil {
			n.warnIfPlaceIgnored(ctx, scope)
			return nodes, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// askable returns whom to ask about a scope: some nodes of the ring and all
// seeds, those first that are likeliest to answer.
func (n *Nodes) askable() []*Member {
	asked := likeliest(n.View().members, maxAsked)
	for _, seed := range n.membersOf(n.seeds.Nodes()) {
		if !slices.Contains(asked, seed) {
			asked = append(asked, seed)
		}
	}
	slices.SortStableFunc(asked, byPreference)
	return asked
}

// likeliest returns up to a number of members, those that are likeliest to
// answer, in random order among equals.
func likeliest(members []*Member, most int) []*Member {
	members = slices.Clone(members)
	rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	slices.SortStableFunc(members, byPreference)
	return members[:min(most, len(members))]
}

func byPreference(a, b *Member) int { return cmp.Compare(a.Preference(), b.Preference()) }

// ask asks one node for the live nodes. It needs at least one entry that can be
// used.
func (n *Nodes) ask(ctx context.Context, m *Member, query string) ([]*resolver.Node, error) {
	addresses, err := n.poll(ctx, m, query)
	if err != nil {
		return nil, err
	}
	var nodes []*resolver.Node
	for _, address := range addresses {
		if node := n.nodeOf(address); node != nil {
			nodes = append(nodes, node)
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("%s lists no node", m.node)
	}
	return nodes, nil
}

// poll asks one node for the addresses of the live nodes and lets its health
// know how that went. That ctx ended says nothing about the node.
func (n *Nodes) poll(ctx context.Context, m *Member, query string) ([]string, error) {
	generation := m.Generation()
	addresses, err := n.get(ctx, m, query)
	switch {
	case err == nil:
		m.Observe(ProbeSuccess, generation)
	case ctx.Err() == nil:
		m.Observe(ProbeFailure, generation)
	}
	return addresses, err
}

// get asks one node for the addresses of the live nodes, for as long as it may
// take.
func (n *Nodes) get(ctx context.Context, m *Member, query string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, n.config.Timeout)
	defer cancel()
	return fetchLocalNodes(ctx, *n.client.Load(), m.node, query)
}

// nodeOf makes the node of an entry, or returns nil for one that is not to be
// used. Scheme and port are the cluster's, whatever the entry says.
func (n *Nodes) nodeOf(entry string) *resolver.Node {
	if err := checkAddress(entry); err != nil {
		n.warnings.warn("entry "+entry, "the cluster lists %.200q as a node, which is left out: %v", entry, err)
		return nil
	}
	address := entry
	if n.config.TranslateAddress != nil {
		if address = n.config.TranslateAddress(entry); address == "" {
			return nil
		}
	}
	node, err := nodeAt(n.config.Seeds[0].Scheme(), address, n.config.Seeds[0].Port())
	if err != nil {
		n.warnings.warn("address "+address, "the node %.200q at the address %.200q is left out: %v", entry, address, err)
		return nil
	}
	return node
}
