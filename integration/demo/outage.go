package main

import (
	"context"
	"fmt"
	"time"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// An outage stops the busiest node when half of the batches are sent, and
// starts it again when three quarters are. A nil outage is none.
type outage struct {
	cluster *cluster.Cluster
	plugin  *middleware.Plugin
	stopAt  int // before the batch with this index
	startAt int
	node    *cluster.Node // once it was stopped
	stopped bool
}

// planOutage plans the outage of a run with a number of batches. Where there
// can be none it returns nil, and in words why.
func planOutage(c *cluster.Cluster, plugin *middleware.Plugin, batches int) (*outage, string) {
	stopAt, startAt := batches/2, batches*3/4
	switch {
	case c == nil:
		return nil, "none, because this is not the demo's own cluster"
	case len(c.Nodes()) < 2:
		return nil, "none, because there is only one node"
	case stopAt == 0 || startAt == stopAt:
		return nil, "none, because there are too few batches"
	}
	return &outage{cluster: c, plugin: plugin, stopAt: stopAt, startAt: startAt}, ""
}

// String tells what happened.
func (o *outage) String() string {
	return fmt.Sprintf("%s stopped before batch %s, back before batch %s",
		o.node.HostPort(), grouped(o.stopAt+1), grouped(o.startAt+1))
}

// before is called before each batch is sent.
func (o *outage) before(ctx context.Context, batch int) error {
	switch {
	case o == nil:
		return nil
	case batch == o.stopAt:
		o.node = o.busiest()
		o.node.Refuse()
		o.stopped = true
	case batch == o.startAt:
		if err := o.end(); err != nil {
			return err
		}
		return o.awaitReturn(ctx)
	}
	return nil
}

// end starts the node again if it is stopped.
func (o *outage) end() error {
	if o == nil || !o.stopped {
		return nil
	}
	o.stopped = false
	return o.node.Heal()
}

func (o *outage) busiest() *cluster.Node {
	busiest := o.cluster.Node(0)
	for _, n := range o.cluster.Nodes() {
		if n.Count("BatchWriteItem") > busiest.Count("BatchWriteItem") {
			busiest = n
		}
	}
	return busiest
}

// maxReturn bounds how long the plugin is waited for.
const maxReturn = 5 * time.Second

// awaitReturn waits until the plugin sends requests to the node again. That
// takes it a second or two, which is longer than all the rest of a run.
func (o *outage) awaitReturn(ctx context.Context) error {
	for start := time.Now(); time.Since(start) < maxReturn; {
		var longest time.Duration
		for _, status := range o.plugin.Nodes() {
			longest = max(longest, status.SuspectedFor)
		}
		if longest == 0 {
			return nil
		}
		if err := sleep(ctx, longest); err != nil {
			return err
		}
	}
	return nil
}
