package discovery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/aws/smithy-go/logging"

	"github.com/keyroute/keyroute/resolver"
)

const (
	// minRefreshInterval keeps faults from becoming a storm of refreshes.
	minRefreshInterval = time.Second

	// maxParallel is how many nodes are asked at a time.
	maxParallel = 4

	// maxAsked is how many nodes of the ring a refresh asks, one after the
	// other, for want of a good answer.
	maxAsked = 3
)

// refreshLoop refreshes the list until Close: at once, then in the rhythm of
// the configuration, and after a fault.
func (n *Nodes) refreshLoop() {
	_ = n.refresh(n.ctx) // what failed is counted and logged
	last := time.Now()
	timer := time.NewTimer(jitter(n.config.RefreshInterval))
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
			due = true
		case <-timer.C:
			// An idle client lets its turns pass until the idle interval is over.
			due = n.used.Load() || time.Since(last) >= n.config.IdleRefreshInterval*9/10
		}
		if due {
			n.used.Store(false)
			_ = n.refresh(n.ctx)
			last = time.Now()
		}
		timer.Reset(jitter(n.config.RefreshInterval))
	}
}

// jitter varies a duration by a tenth in either direction.
func jitter(d time.Duration) time.Duration {
	tenth := int64(d) / 10
	return d - time.Duration(tenth) + time.Duration(rand.Int64N(2*tenth+1))
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
// good answer; the last good list stays.
func (n *Nodes) Refresh(ctx context.Context) error {
	if n.client.Load() == nil {
		return errors.New("keyroute: the nodes have no HTTP client yet")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(n.ctx, func() { cancel(errClosed) })()
	if err := n.refresh(ctx); err != nil {
		return err
	}
	n.probe(ctx, (*Member).probeFirst)
	return nil
}

var errClosed = errors.New("keyroute: closed")

func (n *Nodes) refresh(ctx context.Context) error {
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
	if err != nil {
		return err
	}
	n.publish(ring)
	signal(n.probeSoon)
	return nil
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
			return nodes, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// askable returns whom to ask about a scope, in this order: some nodes of the
// ring, those first that are known to answer, and all seeds.
func (n *Nodes) askable() []*Member {
	v := n.View()
	var asked []*Member
	for _, state := range []State{Active, Quarantined, Down} {
		for _, i := range rand.Perm(len(v.members)) {
			if len(asked) < maxAsked && v.members[i].State() == state {
				asked = append(asked, v.members[i])
			}
		}
	}
	return append(asked, n.seedMembers()...)
}

// ask asks one node for the live nodes and lets its health know how that went.
// It needs at least one entry that can be used.
func (n *Nodes) ask(ctx context.Context, m *Member, query url.Values) ([]*resolver.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, n.config.Timeout)
	defer cancel()
	generation := m.Generation()
	addresses, err := fetchLocalNodes(ctx, *n.client.Load(), m.node, query)
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			m.Observe(ProbeFailure, generation)
		}
		return nil, err
	}
	m.Observe(ProbeSuccess, generation)
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

// nodeOf makes the node of an entry, or returns nil for one that is not to be
// used. Scheme and port are the cluster's, whatever the entry says.
func (n *Nodes) nodeOf(entry string) *resolver.Node {
	if err := checkAddress(entry); err != nil {
		n.warnings.warn("entry "+entry, "the cluster lists %q as a node, which is left out: %v", entry, err)
		return nil
	}
	address := entry
	if n.config.TranslateAddress != nil {
		if address = n.config.TranslateAddress(entry); address == "" {
			return nil
		}
	}
	node, err := resolver.ParseNode(endpointOf(n.config.Seeds[0].Scheme(), address, n.config.Seeds[0].Port()))
	if err != nil {
		n.warnings.warn("translated "+address, "the node %q, translated to %q, is left out: %v", entry, address, err)
		return nil
	}
	return node
}
