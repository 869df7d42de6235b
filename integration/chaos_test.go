package integration

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.uber.org/goleak"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

var (
	chaosDuration = flag.Duration("chaos.duration", 3*time.Second, "how long TestChaos goes on")
	chaosSeed     = flag.Uint64("chaos.seed", 0, "what the faults of TestChaos are drawn from; 0 for any")
)

const (
	chaosNodes   = 6
	chaosWriters = 8
	chaosItems   = 496 // each writer's are the same in number
)

// TestChaos has nodes die in all ways there are and come back, at random but so
// that one always lives, while writers write, and then reads back what was
// acknowledged. No call may fail, no write may be lost and no goroutine may be
// left.
func TestChaos(t *testing.T) {
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("again with: -chaos.seed %d -chaos.duration %v", seed, *chaosDuration)
	others := goleak.IgnoreCurrent()
	c, err := cluster.Start(nodes(chaosNodes))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // if the test ends early
	createTable(t, c, "items", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("items", "pk"), func(o *middleware.Options) {
		o.AttemptTimeout = 500 * time.Millisecond
		o.NodeTimeout = 500 * time.Millisecond
		o.RefreshInterval = time.Second
		o.Health.ProbeInterval = 250 * time.Millisecond
	})
	client := attach(t, c, p, func(o *dynamodb.Options) {
		// Attempts are the user's: each node that hangs or resets takes one.
		o.RetryMaxAttempts = 3 * chaosNodes
	})

	s := newStorm(c, seed)
	writers := startWriters(t, client)
	if err := s.rage(*chaosDuration); err != nil {
		t.Errorf("faults: %v", err)
	}
	total := writers.stop()
	if err := c.Heal(); err != nil {
		t.Fatal(err)
	}
	writers.readBack(c.Client(), total)
	eventually(t, "all nodes are active again", func() bool { return activeNodes(p) == chaosNodes })

	if err := p.Close(context.Background()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close of the cluster: %v", err)
	}
	left := "none"
	if err := goleak.Find(others); err != nil {
		left = "some"
		t.Errorf("goroutines are left: %v", err)
	}
	t.Logf("seed %d, %v: %d calls, %d moves to another coordinator; %d faults (%s); %d failed calls, %d lost writes, "+
		"%d undone by a late copy, goroutines left: %s", seed, *chaosDuration, total.calls, total.moves,
		s.total(), s.counts(), total.failed, total.lost, total.undone, left)
	if total.failed > 0 || total.lost > 0 {
		t.Errorf("%d calls failed, %d writes were lost", total.failed, total.lost)
	}
	if total.calls == 0 || total.moves == 0 || s.total() == 0 {
		t.Error("this was no chaos")
	}
}

func activeNodes(p *middleware.Plugin) int {
	n := 0
	for _, status := range p.Nodes() {
		if status.State == discovery.Active {
			n++
		}
	}
	return n
}
