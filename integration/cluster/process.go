package cluster

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// process is one run of a node's server, from the opening of its port to its
// closing.
type process struct {
	node   *Node
	server http.Server
	ended  chan struct{} // closed when nothing is accepted any more

	mu    sync.Mutex
	conns map[net.Conn]http.ConnState
}

func startProcess(n *Node, l net.Listener) *process {
	p := &process{node: n, ended: make(chan struct{}), conns: map[net.Conn]http.ConnState{}}
	p.server.Handler = http.HandlerFunc(n.serve)
	p.server.ConnState = p.track
	p.server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c)
	}
	p.server.ErrorLog = log.New(io.Discard, "", 0) // broken handshakes are what tests are for
	if n.tls != nil {
		l = tls.NewListener(l, n.tls) // without ALPN: Alternator speaks HTTP/1.1
	}
	go func() {
		defer close(p.ended)
		_ = p.server.Serve(l) // always ends with an error, that of its closing
	}()
	return p
}

// track follows the state of every connection. The server reports a new
// connection before it accepts the next one.
func (p *process) track(c net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state {
	case http.StateNew:
		p.node.counters.connection()
		p.node.cluster.running.Add(1)
	case http.StateClosed, http.StateHijacked:
		delete(p.conns, c)
		p.node.cluster.running.Done()
		return
	}
	p.conns[c] = state
}

// close does not wait for the handlers, whose answers go nowhere now: one of
// them may be what closes the node.
func (p *process) close() {
	p.server.Close()
	<-p.ended
	// The server forgets what it accepted while it was being closed.
	p.closeConns(func(http.ConnState) bool { return true })
}

func (p *process) closeIdle() {
	p.closeConns(func(s http.ConnState) bool { return s == http.StateIdle })
}

func (p *process) closeConns(in func(http.ConnState) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, state := range p.conns {
		if in(state) {
			c.Close()
		}
	}
}

// connKey is the context key of the connection that a request came on.
type connKey struct{}

// socketOf returns the TCP connection that a request came on.
func socketOf(r *http.Request) *net.TCPConn {
	c := r.Context().Value(connKey{}).(net.Conn)
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return c.(*net.TCPConn)
}
