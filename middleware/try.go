package middleware

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"github.com/keyroute/keyroute/resolver"
)

// A try is one request to one node. It watches through net/http/httptrace how
// far the request gets, and bounds the time that it may take: to a connection,
// while another coordinator is untried, and as a whole.
//
// The time that a request waits for one of the connections that the HTTP client
// allows itself is bounded, too, but it is not the node's: once the request has
// its turn, the node has the whole of the time.
//
// Each try has a value of its own: net/http may go on dialling, and tell of it,
// when the request has long gone elsewhere.
type try struct {
	trace          httptrace.ClientTrace
	cancel         context.CancelCauseFunc // nil if nothing bounds the try
	connectTimeout time.Duration           // 0: no bound
	attemptTimeout time.Duration           // 0: no bound
	used           bool

	mu       sync.Mutex
	traced   bool // the HTTP client tells how far the request gets
	dialling bool // a connection is being made for it, or the node's name looked up
	reached  bool // there was a connection, so the request may have been sent
	shared   bool // that connection carries other requests at the same time
	over     bool
	connect  *time.Timer
	attempt  *time.Timer
}

var (
	errConnectTimeout = errors.New("keyroute: connect timeout")
	errAttemptTimeout = errors.New("keyroute: attempt timeout")
)

// begin starts a try, which must not have been used before. The context is for
// its request; the try is over when end was called.
func (t *try) begin(ctx context.Context, o *Options, node *resolver.Node, untried bool) context.Context {
	t.attemptTimeout = o.AttemptTimeout
	t.used = true
	if untried {
		t.connectTimeout = connectTimeout(ctx, o)
	}
	if t.connectTimeout > 0 || t.attemptTimeout > 0 {
		ctx, t.cancel = context.WithCancelCause(ctx)
	}
	if t.attemptTimeout > 0 {
		t.attempt = time.AfterFunc(t.attemptTimeout, func() { t.cancel(errAttemptTimeout) })
	}
	t.trace = httptrace.ClientTrace{
		GetConn:      t.gettingConnection,
		ConnectStart: t.connecting,
		GotConn:      t.connected,
	}
	if node.IsNamed() { // hooks cost allocations
		t.trace.DNSStart = t.resolving
	}
	return httptrace.WithClientTrace(ctx, &t.trace)
}

// minConnectTimeout is the least that a node gets, however soon the call's
// deadline is.
const minConnectTimeout = 50 * time.Millisecond

// connectTimeout returns how long a node may take to a connection while another
// coordinator is untried; 0 for no bound. A call's deadline blames nobody, so
// without a bound below it a machine that drops packets would never be found
// out by calls that have less time than ConnectTimeout.
func connectTimeout(ctx context.Context, o *Options) time.Duration {
	if o.ConnectTimeout <= 0 {
		return 0
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return o.ConnectTimeout
	}
	return min(o.ConnectTimeout, max(time.Until(deadline)/2, minConnectTimeout))
}

func (t *try) gettingConnection(string) {
	t.mu.Lock()
	t.traced = true
	t.mu.Unlock()
}

func (t *try) resolving(httptrace.DNSStartInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialLocked()
}

func (t *try) connecting(string, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialLocked()
	if t.connectTimeout > 0 && t.connect == nil && !t.reached && !t.over {
		t.connect = time.AfterFunc(t.connectTimeout, func() { t.cancel(errConnectTimeout) })
	}
}

func (t *try) connected(info httptrace.GotConnInfo) {
	shared := speaksHTTP2(info.Conn)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.dialling {
		t.restartLocked()
	}
	t.reached, t.shared = true, shared
	if t.connect != nil {
		t.connect.Stop()
	}
}

// speaksHTTP2 reports whether HTTP/2 was agreed upon for a connection, as a
// proxy in front of the cluster may.
func speaksHTTP2(conn net.Conn) bool {
	encrypted, ok := conn.(*tls.Conn)
	return ok && encrypted.ConnectionState().NegotiatedProtocol == "h2"
}

func (t *try) dialLocked() {
	if !t.dialling {
		t.dialling = true
		t.restartLocked()
	}
}

// restartLocked gives the node the whole time for its answer.
func (t *try) restartLocked() {
	if t.attempt != nil && !t.over {
		t.attempt.Reset(t.attemptTimeout)
	}
}

// end ends a try and releases what it holds.
func (t *try) end() {
	t.mu.Lock()
	t.over = true
	if t.connect != nil {
		t.connect.Stop()
	}
	t.mu.Unlock()
	if t.attempt != nil {
		t.attempt.Stop()
	}
	if t.cancel != nil {
		t.cancel(nil)
	}
}

// explain returns the error of a try, which is its timeout if one ended it, and
// not the cancellation by which it did so. An answer that was complete in time
// stays one. ctx is that of the try.
func (t *try) explain(ctx context.Context, err error) error {
	if err == nil || isAnswer(err) {
		return err
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errConnectTimeout):
		return &timeoutError{what: "no connection", after: t.connectTimeout}
	case errors.Is(cause, errAttemptTimeout):
		return &timeoutError{what: "no answer", after: t.attemptTimeout}
	}
	return err
}

// isAnswer reports whether err is the node's own answer.
func isAnswer(err error) bool {
	var answer smithy.APIError
	return errors.As(err, &answer)
}

// nothingSent reports whether a try that ended with err sent nothing that could
// be carried out. Of a shared connection, a write that failed ends all requests,
// those included that were sent long ago.
func (t *try) nothingSent(err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if isWriteError(err) && !t.shared {
		return true
	}
	if t.traced {
		return !t.reached
	}
	return isDialError(err)
}

// blameless reports whether the request did nothing but wait in vain for one of
// the connections that the HTTP client allows itself, which says nothing about
// the node.
func (t *try) blameless(err error) bool {
	var network net.Error
	if !errors.As(err, &network) || !network.Timeout() {
		return false // a dialler that does not trace failed
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.traced && !t.reached && !t.dialling
}
