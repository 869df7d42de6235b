package cluster

// door is what is at a node's port.
type door interface {
	// close closes the port and all connections that came through it.
	close()
}

// open opens the node's port, unless it is open.
func (n *Node) open() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.openLocked()
}

func (n *Node) openLocked() error {
	if n.shutdown {
		return errClosed
	}
	if _, open := n.door.(*process); open {
		return nil
	}
	n.closeLocked()
	l, err := n.listenLocked()
	if err != nil {
		return err
	}
	n.door = startProcess(n, l)
	return nil
}

// closeLocked leaves nothing at the node's port.
func (n *Node) closeLocked() {
	if n.door != nil {
		n.door.close()
		n.door = nil
	}
}

// Refuse closes the node's port and all its connections, as if its process had
// died. The node stays listed, as a dead one does until gossip knows; use Leave
// to end that, too.
func (n *Node) Refuse() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closeLocked()
}

// CloseIdle closes the connections of the node that no request is on. New ones
// are accepted.
func (n *Node) CloseIdle() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p, open := n.door.(*process); open {
		p.closeIdle()
	}
}

// shut closes the node for good.
func (n *Node) shut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shutdown = true
	n.liftLocked()
	n.closeLocked()
}
