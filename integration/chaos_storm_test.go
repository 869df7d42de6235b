package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyroute/keyroute/integration/cluster"
)

// blow is what a storm does to a node.
type blow int

const (
	mend blow = iota // and so restart it
	refuse
	hang
	reset
	resetMidResponse
	hangUp
	restart // refuse, and heal at once
	blows
)

var blowNames = [blows]string{"healed", "refused", "hung", "reset", "reset mid-response", "closed", "restarted"}

// A storm draws blows to nodes from a seed. What it draws depends on the seed
// alone, not on what becomes of them.
type storm struct {
	nodes  []*cluster.Node
	random *rand.Rand
	broken []bool
	struck [blows]int
}

// A stroke is one blow to one node after a pause.
type stroke struct {
	pause time.Duration
	node  int
	blow  blow
}

func newStorm(c *cluster.Cluster, seed uint64) *storm {
	s := &storm{nodes: c.Nodes(), random: rand.New(rand.NewPCG(seed, 0))}
	s.broken = make([]bool, len(s.nodes))
	return s
}

// draw draws what is next. A node that is broken is healed, one that is well is
// broken unless it is the last one.
func (s *storm) draw() stroke {
	next := stroke{
		pause: 10*time.Millisecond + time.Duration(s.random.Int64N(int64(100*time.Millisecond))),
		node:  s.random.IntN(len(s.broken)),
		blow:  1 + blow(s.random.IntN(int(blows)-1)),
	}
	if !s.broken[next.node] && s.living() == 1 {
		next.node = (next.node + 1) % len(s.broken) // which is broken
	}
	if s.broken[next.node] {
		next.blow = mend
	}
	s.broken[next.node] = next.blow != mend && next.blow != restart
	return next
}

func (s *storm) living() int {
	n := 0
	for _, broken := range s.broken {
		if !broken {
			n++
		}
	}
	return n
}

// rage strikes until the time is over.
func (s *storm) rage(d time.Duration) error {
	over := time.After(d)
	for {
		next := s.draw()
		select {
		case <-over:
			return nil
		case <-time.After(next.pause):
		}
		if err := s.strike(s.nodes[next.node], next.blow); err != nil {
			return err
		}
	}
}

// strike never delays a request that is carried out: those that hang never are.
// Only a node that is closed may be at work on a request whose end nobody sees.
func (s *storm) strike(n *cluster.Node, b blow) error {
	s.struck[b]++
	switch b {
	case mend:
		return n.Heal()
	case refuse:
		n.Refuse()
	case hang:
		n.Inject(cluster.Hang())
	case reset:
		n.Inject(cluster.ResetAfterRequest())
	case resetMidResponse:
		n.Inject(cluster.ResetMidResponse())
	case hangUp:
		n.Inject(cluster.CloseAfterRequest())
	case restart:
		n.Refuse()
		return n.Heal()
	}
	return nil
}

// total is how many faults there were.
func (s *storm) total() int {
	n := 0
	for b, struck := range s.struck {
		if blow(b) != mend {
			n += struck
		}
	}
	return n
}

func (s *storm) counts() string {
	var parts []string
	for b, struck := range s.struck {
		if blow(b) != mend {
			parts = append(parts, fmt.Sprintf("%d %s", struck, blowNames[b]))
		}
	}
	return strings.Join(parts, ", ")
}

// TestStormsCanBeReplayed, and leave one node alive.
func TestStormsCanBeReplayed(t *testing.T) {
	draw := func(seed uint64) []stroke {
		s := &storm{random: rand.New(rand.NewPCG(seed, 0)), broken: make([]bool, chaosNodes)}
		var strokes []stroke
		for range 2000 {
			before := slices.Clone(s.broken)
			next := s.draw()
			if s.living() == 0 || before[next.node] != (next.blow == mend) {
				t.Fatalf("seed %d: %v strikes nodes that are broken as in %v", seed, next, before)
			}
			if next.blow == restart && s.living() == 1 {
				t.Fatalf("seed %d: the last node is restarted", seed)
			}
			strokes = append(strokes, next)
		}
		return strokes
	}
	for seed := range uint64(20) {
		if !slices.Equal(draw(seed), draw(seed)) {
			t.Errorf("seed %d draws something else each time", seed)
		}
	}
	if slices.Equal(draw(1), draw(2)) {
		t.Error("two seeds draw the same")
	}
}
