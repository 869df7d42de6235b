package discovery

import (
	"context"
	"time"
)

// probeLoop has nodes asked whether they answer, until Close: those that are
// new at once, those that are down or quarantined once per period, and
// suspected ones before traffic would try them again. It does not wait for the
// answers, so a node that hangs holds up nobody.
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
		wait := n.config.ProbeInterval - time.Since(last)
		for _, m := range n.View().all() {
			until, ok := m.untilProbe(period)
			switch {
			case ok && until <= 0:
				n.probe(m)
			case ok:
				wait = min(wait, until)
			}
		}
		timer.Reset(wait)
	}
}

// probe begins to ask a node whether it answers, unless that is under way, and
// returns a channel that is closed when the outcome is known.
func (n *Nodes) probe(m *Member) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return n.ctx.Done()
	}
	done, begun := m.beginProbe()
	if begun {
		n.running.Go(func() {
			n.runProbe(m)
			m.endProbe()
			if _, ok := m.untilProbe(false); ok {
				signal(n.probeSoon) // suspected for longer, and to be asked again
			}
		})
	}
	return done
}

// runProbe asks a node when it is its turn: a few are asked at a time.
func (n *Nodes) runProbe(m *Member) {
	select {
	case n.probing <- struct{}{}:
		defer func() { <-n.probing }()
	case <-n.ctx.Done():
		return
	}
	n.mu.Lock()
	n.counters.Probes++
	n.mu.Unlock()
	m.holdSuspicion(n.config.Timeout + n.config.Timeout/10)
	_, _ = n.poll(n.ctx, m, "") // its health was told
}

// probeNew asks each node that was never asked whether it answers, and waits
// for the outcomes or until ctx is done.
func (n *Nodes) probeNew(ctx context.Context) {
	var probes []<-chan struct{}
	for _, m := range n.View().all() {
		if m.isNew() {
			probes = append(probes, n.probe(m))
		}
	}
	for _, done := range probes {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// beginProbe returns a channel that is closed at the end of the probe of a node
// that runs, and whether it is the caller who is to run it.
func (m *Member) beginProbe() (done <-chan struct{}, begun bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.probing != nil {
		return m.probing, false
	}
	m.probing = make(chan struct{})
	return m.probing, true
}

func (m *Member) endProbe() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.probing)
	m.probing = nil
	if m.heldUntil != 0 {
		m.suspectUntil.Store(m.heldUntil)
		m.heldUntil = 0
	}
}

// holdSuspicion has the suspicion of an active node not end before its probe
// does, for d at most, so that no request finds out first that it is still
// dead. A good probe gives the suspicion its old end back.
func (m *Member) holdSuspicion(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, until := m.elapsed(), m.suspectUntil.Load()
	if m.record.state == Active && now < until && until < now+int64(d) {
		m.heldUntil = until
		m.suspectUntil.Store(now + int64(d))
	}
}

// isNew reports whether the node was never asked whether it answers.
func (m *Member) isNew() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.isNewLocked()
}

func (m *Member) isNewLocked() bool { return m.record.state == Quarantined && !m.probed }

// untilProbe returns how long it is until the node should be asked whether it
// answers, and false if nothing calls for it: a new one is asked at once, one
// that is not active when a period is over, one that is suspected half way
// through its suspicion, so that what is still dead is found so by a probe and
// not by the next request, and one whose port opens a little after it was
// listed has requests soon.
func (m *Member) untilProbe(period bool) (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch now := m.elapsed(); {
	case m.probing != nil:
		return 0, false
	case m.record.state == Down:
		return 0, period
	case m.record.state == Quarantined:
		if m.probeAt != 0 {
			return time.Duration(max(0, m.probeAt-now)), true
		}
		return 0, period || m.isNewLocked()
	case m.probeAt == 0 || now >= m.suspectUntil.Load():
		return 0, false
	default:
		return time.Duration(m.probeAt - now), true
	}
}
