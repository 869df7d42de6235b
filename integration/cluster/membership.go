package cluster

import (
	"encoding/json"
	"net/url"
	"slices"
)

// localNodes is what the node answers to /localnodes: the listed nodes of one
// datacenter, its own unless another is asked for, and of one rack there if one
// is asked for. An empty parameter is none.
func (n *Node) localNodes(query url.Values) []byte {
	body, _ := json.Marshal(n.listedNodes(query)) // strings always marshal
	return body
}

func (n *Node) listedNodes(query url.Values) []string {
	if list := n.override(); list != nil {
		return list
	}
	dc, rack := query.Get("dc"), query.Get("rack")
	if n.cluster.options.IgnorePlace {
		dc, rack = "", ""
	}
	if dc == "" {
		dc = n.dc
	}
	list := []string{}
	for _, other := range n.cluster.Nodes() {
		if other.dc == dc && (rack == "" || other.rack == rack) && !other.hasLeft() {
			list = append(list, other.host)
		}
	}
	return list
}

// override is the list that was set instead of the real one, or nil.
func (n *Node) override() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listed != nil {
		return n.listed
	}
	n.cluster.mu.RLock()
	defer n.cluster.mu.RUnlock()
	return n.cluster.listed
}

func (n *Node) hasLeft() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.unlisted
}

// Leave ends the listing of the node by all nodes. It goes on serving.
func (n *Node) Leave() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unlisted = true
}

// Rejoin undoes Leave.
func (n *Node) Rejoin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unlisted = false
}

// SetListed has the node answer these addresses to /localnodes, whatever dc and
// rack it is asked for, instead of those of the cluster; nil ends that. They
// can be anything, such as the identifiers that real servers answer at times.
func (n *Node) SetListed(addresses []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listed = slices.Clone(addresses)
}

// SetListed does for all nodes what Node.SetListed does for one. What was set
// for a single node counts for that node.
func (c *Cluster) SetListed(addresses []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = slices.Clone(addresses)
}

// DelistAll has all nodes answer an empty list; SetListed(nil) ends that.
func (c *Cluster) DelistAll() { c.SetListed([]string{}) }

// Join adds a node, which is listed from then on.
func (c *Cluster) Join() (*Node, error) { return c.join(func(*Node) {}) }

// JoinClosed adds a node that is listed although its port is closed, as it can
// be for the first seconds of a real node. Heal opens the port.
func (c *Cluster) JoinClosed() (*Node, error) { return c.join((*Node).Refuse) }

func (c *Cluster) join(prepare func(*Node)) (*Node, error) {
	c.joining.Lock() // one at a time, so that each has an index of its own
	defer c.joining.Unlock()
	if c.isClosed() {
		return nil, errClosed
	}
	n, err := newNode(c, len(c.Nodes()))
	if err != nil {
		return nil, err
	}
	if err := n.open(); err != nil {
		return nil, err
	}
	prepare(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes = append(c.nodes, n)
	return n, nil
}

func (c *Cluster) isClosed() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.closed
}
