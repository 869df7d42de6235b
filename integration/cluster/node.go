package cluster

import (
	"crypto/tls"
	"net/http"
	"sync"
	"sync/atomic"
)

// Node is one node of a cluster. It is safe for concurrent use.
type Node struct {
	cluster  *Cluster
	index    int
	host     string
	dc, rack string
	tls      *tls.Config // nil without TLS
	counters counters

	hook   atomic.Pointer[func(operation string, r *http.Request)]
	faults atomic.Pointer[[]*injected]

	mu       sync.Mutex
	bound    string   // where it really listens; empty until its port first opened
	door     door     // what is at that port now; nil if nothing is
	shutdown bool     // the cluster was closed
	unlisted bool     // it has left
	listed   []string // what it answers to /localnodes instead, unless nil
}

func newNode(c *Cluster, i int) (*Node, error) {
	host, err := c.addressOf(i)
	if err != nil {
		return nil, err
	}
	n := &Node{cluster: c, index: i, host: host}
	n.dc, n.rack = c.options.Place(i)
	if c.authority != nil {
		if n.tls, err = c.authority.serverConfig(host); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Index is the node's number, counted from 0.
func (n *Node) Index() int { return n.index }

// Address is the node's IP address, as /localnodes lists it.
func (n *Node) Address() string { return n.host }

// HostPort is the node's address and port, with brackets around an IPv6
// address.
func (n *Node) HostPort() string { return n.cluster.hostPort(n.host) }

// URL is the node's endpoint, such as "http://127.0.0.1:20001".
func (n *Node) URL() string {
	if n.cluster.options.TLS {
		return "https://" + n.HostPort()
	}
	return "http://" + n.HostPort()
}

// Place is the node's datacenter and rack.
func (n *Node) Place() (dc, rack string) { return n.dc, n.rack }

// Before has a function called with every request that the node receives,
// once its body was read and before anything is done with it; nil ends that.
// Faults that the function injects are for later requests. It must not outlast
// the request's context, or Close waits for it.
func (n *Node) Before(hook func(operation string, r *http.Request)) {
	if hook == nil {
		n.hook.Store(nil)
		return
	}
	n.hook.Store(&hook)
}
