package cluster

import (
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/keyroute/keyroute/integration/cluster/internal/engine"
)

// Cluster is a running cluster. It is safe for concurrent use.
type Cluster struct {
	options   Options
	engine    *engine.Engine
	record    *record
	signature *verifier
	authority *authority // nil without TLS
	port      int        // the port that all nodes share

	// running are the goroutines of all connections that were ever accepted.
	running sync.WaitGroup

	joining sync.Mutex // held while a node joins, and by Close

	mu         sync.RWMutex
	nodes      []*Node           // by index; only ever grows
	listed     []string          // what every node answers to /localnodes instead, unless nil
	transports []*http.Transport // of the clients that were handed out
	closed     bool
}

var errClosed = errors.New("cluster: closed")

// Start starts a cluster.
func Start(optFns ...func(*Options)) (*Cluster, error) {
	o, err := resolveOptions(optFns)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		options:   o,
		engine:    engine.New(o.MaxBatchWrites),
		record:    newRecord(o.RecordLimit),
		signature: newVerifier(o.Credentials),
	}
	if o.TLS {
		if c.authority, err = newAuthority(o.TLSNames, o.TLSOnlyNames); err != nil {
			return nil, err
		}
	}
	if err := c.startNodes(); err != nil {
		return nil, err
	}
	return c, nil
}

// startNodes starts all nodes on one port. Where the choice is free, it looks
// for a port that is free on all addresses.
func (c *Cluster) startNodes() error {
	if c.options.Port != 0 {
		return c.startNodesOn(c.options.Port)
	}
	var err error
	for range portTries {
		if err = c.startNodesOn(randomPort()); !isAddressInUse(err) {
			return err
		}
	}
	return err
}

// startNodesOn starts all nodes on a port, or none.
func (c *Cluster) startNodesOn(port int) error {
	c.port = port
	var nodes []*Node
	for i := range c.options.Nodes {
		n, err := newNode(c, i)
		if err == nil {
			err = n.open()
		}
		if err != nil {
			for _, n := range nodes {
				n.shut()
			}
			c.running.Wait()
			return err
		}
		nodes = append(nodes, n)
	}
	c.mu.Lock() // the first nodes may have been asked for the list already
	defer c.mu.Unlock()
	c.nodes = nodes
	return nil
}

// Close stops all nodes and waits until everything that the cluster runs has
// ended, functions set with Node.Before included. Closing twice is closing
// once.
func (c *Cluster) Close() error {
	c.joining.Lock()
	defer c.joining.Unlock()
	c.mu.Lock()
	c.closed = true
	nodes, transports := c.nodes, c.transports
	c.transports = nil
	c.mu.Unlock()
	for _, n := range nodes {
		n.shut()
	}
	c.running.Wait()
	for _, t := range transports {
		t.CloseIdleConnections()
	}
	return nil
}

// Port is the port that all nodes share.
func (c *Cluster) Port() int { return c.port }

// Nodes returns all nodes, in the order in which they started.
func (c *Cluster) Nodes() []*Node {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.nodes)
}

// Node returns the node with an index, counted from 0. It panics if there is
// none.
func (c *Cluster) Node(i int) *Node {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.nodes[i]
}

// NodeAt returns the node that is at a URL, at a host with port, or at a host;
// nil if there is none.
func (c *Cluster) NodeAt(where string) *Node {
	for _, n := range c.Nodes() {
		if where == n.URL() || where == n.HostPort() || where == n.Address() {
			return n
		}
	}
	return nil
}

// Seeds returns the URLs of all nodes.
func (c *Cluster) Seeds() []string {
	var urls []string
	for _, n := range c.Nodes() {
		urls = append(urls, n.URL())
	}
	return urls
}

// Inject injects a fault into every node that there is. Each counts Fault.Times
// for itself.
func (c *Cluster) Inject(f Fault) {
	for _, n := range c.Nodes() {
		n.Inject(f)
	}
}

// Heal heals every node.
func (c *Cluster) Heal() error {
	var errs []error
	for _, n := range c.Nodes() {
		errs = append(errs, n.Heal())
	}
	return errors.Join(errs...)
}
