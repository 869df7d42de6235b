package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// A cluster behind a translation that nobody configured advertises addresses
// that no client can reach. The seeds serve then: no request fails, and what
// they find out together about the others costs a bounded number of dials.
func TestAdvertisedAddressesThatNobodyCanReach(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(2))
	createTable(t, c, "items", "pk", "S")
	advertised := []string{"127.0.0.201", "127.0.0.202", "127.0.0.203", "127.0.0.204", "127.0.0.205"}
	c.SetListed(advertised)
	log := &logbook{}
	p := newPlugin(t, c, quiet, mode(middleware.AnyWrite), keys("items", "pk"), seedsAt(c, 0, 1), log.option)
	client := c.Client(p.Attach)
	eventually(t, "what is advertised is known", func() bool {
		wantSentToASeed(t, c, send(t, client, batch(writes{"items": {put(item{"pk": str("a")})}})))
		return len(p.Nodes()) == len(advertised)
	})

	// A node that never answered is down after three requests. How many of them
	// fall into the time for which it is passed over anyway does not matter.
	vain, most := 0, 0
	for i := range 200 {
		d := send(t, client, batch(writes{"items": {put(item{"pk": str(fmt.Sprint(i))})}}))
		wantSentToASeed(t, c, d)
		vain += len(d.Tried) - 1
		most = max(most, len(d.Tried)-1)
	}
	if limit := 3 * len(advertised); vain > limit {
		t.Errorf("nodes that nobody can reach were tried %d times, want %d at most", vain, limit)
	}
	if most > len(advertised) {
		t.Errorf("one request tried %d nodes in vain", most)
	}
	if lines := log.take(); len(lines) > 1 {
		t.Errorf("%d lines were logged, want 1 at most: %q", len(lines), lines)
	}
}

// wantSentToASeed checks that a request was sent to a node of the cluster.
func wantSentToASeed(t *testing.T, c *cluster.Cluster, d middleware.Decision) {
	t.Helper()
	if !slices.Contains(c.Seeds(), d.Coordinator) {
		t.Errorf("sent to %s, want a seed", d.Coordinator)
	}
}

// Once they can be reached, they are used, and the seeds are no longer.
func TestAdvertisedAddressesThatBecomeReachable(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(2))
	createTable(t, c, "items", "pk", "S")
	c.SetListed([]string{"alpha.example", "beta.example"})
	names := newSwitchboard(c)
	p := newPlugin(t, c, brisk, mode(middleware.AnyWrite), keys("items", "pk"), seedsAt(c, 0), func(o *middleware.Options) {
		o.Health.ProbeInterval = 20 * time.Millisecond
	})
	client := attach(t, c, p, names.option)
	in := batch(writes{"items": {put(item{"pk": str("a")})}})
	if d := send(t, client, in); d.Coordinator != c.Node(0).URL() {
		t.Errorf("sent to %s, want the seed", d.Coordinator)
	}
	names.name("alpha.example", 0)
	names.name("beta.example", 1)
	eventually(t, "a write goes where it prefers to", func() bool {
		d := send(t, client, in)
		return d.Coordinator == d.Preferred
	})
}
