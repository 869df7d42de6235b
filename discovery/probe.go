package discovery

import (
	"context"
	"errors"
	"sync"
	"time"
)

// probeLoop asks nodes that are not active whether they answer, until Close:
// those that are new at once, those that are down or quarantined once per
// period, and suspected ones before traffic would try them again.
func (n *Nodes) probeLoop() {
	last := time.Now()
	timer := time.NewTimer(n.config.ProbeInterval)
	defer timer.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-n.probeSoon:
		case <-timer.C:
		}
		period := time.Since(last) >= n.config.ProbeInterval
		if period {
			last = time.Now()
		}
		n.probe(n.ctx, func(m *Member) bool { return m.probeFirst() || m.probeDue(period) })
		timer.Reset(n.untilProbe(last))
	}
}

// untilProbe returns how long no probe is due.
func (n *Nodes) untilProbe(last time.Time) time.Duration {
	wait := n.config.ProbeInterval - time.Since(last)
	v := n.View()
	for _, members := range [][]*Member{v.members, v.seeds} {
		for _, m := range members {
			if d, ok := m.untilProbe(); ok {
				wait = min(wait, d)
			}
		}
	}
	return max(wait, time.Millisecond)
}

// probe asks the chosen nodes, a few at a time, and waits for the outcomes.
func (n *Nodes) probe(ctx context.Context, chosen func(*Member) bool) {
	v := n.View()
	var probes sync.WaitGroup
	defer probes.Wait()
	for _, members := range [][]*Member{v.members, v.seeds} {
		for _, m := range members {
			if !chosen(m) {
				continue
			}
			select {
			case n.probing <- struct{}{}:
			case <-ctx.Done():
				return
			}
			probes.Go(func() {
				n.probeOne(ctx, m)
				<-n.probing
			})
		}
	}
}

func (n *Nodes) probeOne(ctx context.Context, m *Member) {
	ctx, cancel := context.WithTimeout(ctx, n.config.Timeout)
	defer cancel()
	n.mu.Lock()
	n.counters.Probes++
	n.mu.Unlock()
	generation := m.Generation()
	_, err := fetchLocalNodes(ctx, *n.client.Load(), m.node, nil)
	switch {
	case err == nil:
		m.Observe(ProbeSuccess, generation)
	case !errors.Is(ctx.Err(), context.Canceled):
		m.Observe(ProbeFailure, generation)
	}
}
