package cluster

import (
	"context"
	"maps"
	"sync"
)

// counters count what reaches a node.
type counters struct {
	mu          sync.Mutex
	requests    map[string]int // by operation
	connections int
	changed     chan struct{} // closed with the next request; nil if nobody waits
}

func (c *counters) request(operation string, dynamoDB bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests == nil {
		c.requests = map[string]int{}
	}
	c.requests[operation]++
	if dynamoDB {
		c.requests[Operations]++
	}
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// reached returns nil if an operation was requested often enough, and otherwise
// what is closed with the next request.
func (c *counters) reached(operation string, count int) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests[operation] >= count {
		return nil
	}
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.changed
}

func (c *counters) connection() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connections++
}

// Count is how many requests of an operation the node has received, answered
// or not. LocalNodes is one, too; Operations stands for all DynamoDB operations.
func (n *Node) Count(operation string) int {
	n.counters.mu.Lock()
	defer n.counters.mu.Unlock()
	return n.counters.requests[operation]
}

// AwaitCount waits until the node has received a number of requests of an
// operation, or the context ends, whose error it then returns.
func (n *Node) AwaitCount(ctx context.Context, operation string, count int) error {
	for {
		next := n.counters.reached(operation, count)
		if next == nil {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Counts is how many requests the node has received, by operation. Operations
// has the sum of the DynamoDB operations.
func (n *Node) Counts() map[string]int {
	n.counters.mu.Lock()
	defer n.counters.mu.Unlock()
	return maps.Clone(n.counters.requests)
}

// Connections is how many connections the node has accepted.
func (n *Node) Connections() int {
	n.counters.mu.Lock()
	defer n.counters.mu.Unlock()
	return n.counters.connections
}

// ResetCounts sets the node's counters to zero.
func (n *Node) ResetCounts() {
	n.counters.mu.Lock()
	defer n.counters.mu.Unlock()
	clear(n.counters.requests)
	n.counters.connections = 0
}

// Count is how many requests of an operation all nodes have received.
func (c *Cluster) Count(operation string) int {
	total := 0
	for _, n := range c.Nodes() {
		total += n.Count(operation)
	}
	return total
}

// ResetCounts sets all counters of all nodes to zero.
func (c *Cluster) ResetCounts() {
	for _, n := range c.Nodes() {
		n.ResetCounts()
	}
}
