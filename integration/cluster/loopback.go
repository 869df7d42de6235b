package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
	"time"
)

// Free ports are looked for below those that systems hand to outgoing
// connections. Otherwise such a connection could take the port of a node while
// that node refuses connections.
const (
	firstPort = 20000
	lastPort  = 32767 // Linux hands out ports from 32768 on
	portTries = 100
)

func randomPort() int { return firstPort + rand.IntN(lastPort-firstPort+1) }

// A node that opens its port again waits this long for whatever is in its way,
// such as the last connections of its former process.
const (
	reopenPatience = 5 * time.Second
	reopenInterval = 10 * time.Millisecond
)

// addressOf returns the host that a node has for the outside.
func (c *Cluster) addressOf(i int) (string, error) {
	if c.options.IPv6 {
		if i > 0 {
			return "", errors.New("cluster: an IPv6 cluster has one node")
		}
		return "::1", nil
	}
	if i >= MaxNodes {
		return "", fmt.Errorf("cluster: a cluster has at most %d nodes", MaxNodes)
	}
	return net.IPv4(127, 0, 0, byte(i+1)).String(), nil
}

func (c *Cluster) hostPort(host string) string {
	return net.JoinHostPort(host, strconv.Itoa(c.port))
}

// listenLocked listens where the node listened before. The first time it
// listens at the node's own address or, with SingleAddress, on any free port
// of the one address.
func (n *Node) listenLocked() (net.Listener, error) {
	if n.bound != "" {
		return relisten(n.bound)
	}
	if !n.cluster.options.SingleAddress {
		n.bound = n.HostPort()
		return net.Listen("tcp", n.bound)
	}
	var err error
	for range portTries {
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(randomPort()))); err == nil {
			n.bound = l.Addr().String()
			return l, nil
		}
		if !isAddressInUse(err) {
			break
		}
	}
	return nil, err
}

func relisten(address string) (net.Listener, error) {
	deadline := time.Now().Add(reopenPatience)
	for {
		l, err := net.Listen("tcp", address)
		if !isAddressInUse(err) || time.Now().After(deadline) {
			return l, err
		}
		time.Sleep(reopenInterval)
	}
}

func isAddressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// DialContext dials a node at its address, wherever it really listens, and
// everything else as usual.
func (c *Cluster) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if n := c.NodeAt(address); n != nil {
		address = n.boundAddress()
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

func (n *Node) boundAddress() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bound
}
