package cluster

import (
	"slices"
	"sync/atomic"
	"time"
)

// Names that Fault.On and the counters take beside those of DynamoDB operations.
const (
	// LocalNodes is the request for the list of nodes, GET /localnodes.
	LocalNodes = "localnodes"
	// Operations stands for all DynamoDB operations together.
	Operations = "operations"
)

// Fault is a way in which a node mistreats requests. Make one with Hang,
// Answer and their like, narrow it with On and Times, and inject it:
//
//	node.Inject(cluster.Hang())                                     // everything hangs
//	node.Inject(cluster.Hang().On("BatchWriteItem"))                // batches hang
//	node.Inject(cluster.ResetAfterRequest().On(cluster.Operations)) // /localnodes still works
//	node.Inject(cluster.Answer(500, "InternalServerError", "oops").Times(2))
//
// Faults are values: On and Times return another one.
type Fault struct {
	act   func(*exchange, *injected) verdict
	on    []string // names of operations; empty for all requests
	times int      // 0: until healed
}

// On restricts a fault to operations, given by name, such as "PutItem",
// LocalNodes or Operations.
func (f Fault) On(operations ...string) Fault {
	f.on = slices.Clone(operations)
	return f
}

// Times restricts a fault to the next n requests that it is for. Without it, or
// with an n below 1, the fault lasts until the node is healed.
func (f Fault) Times(n int) Fault {
	f.times = max(n, 0)
	return f
}

// Hang reads requests and never answers them. When the node is healed, the
// connections of those that still wait are closed.
func Hang() Fault { return Fault{act: hang} }

// CloseAfterRequest reads requests and closes their connections.
func CloseAfterRequest() Fault { return Fault{act: closeAfterRequest} }

// ResetAfterRequest reads requests and resets their connections.
func ResetAfterRequest() Fault { return Fault{act: resetAfterRequest} }

// ResetMidResponse carries requests out, sends half of each answer and resets
// the connection.
func ResetMidResponse() Fault { return Fault{act: resetMidResponse} }

// Answer answers DynamoDB operations with an error instead of carrying them
// out. After a RequestLimitExceeded it closes the connection without having
// announced it, as newer servers do.
func Answer(status int, errorType, message string) Fault {
	return Fault{on: []string{Operations}, act: answerError(status, errorType, message)}
}

// Slow delays requests before they are carried out. Healing the node ends the
// delay.
func Slow(delay time.Duration) Fault {
	return Fault{act: func(x *exchange, f *injected) verdict {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		return wait(x, f, timer.C)
	}}
}

// Hold delays requests until a channel is closed or receives. Healing the node
// ends the delay.
func Hold(until <-chan struct{}) Fault {
	return Fault{act: func(x *exchange, f *injected) verdict { return wait(x, f, until) }}
}

// GarbleLocalNodes answers /localnodes with something else.
func GarbleLocalNodes(status int, contentType, body string) Fault {
	return Fault{on: []string{LocalNodes}, act: func(x *exchange, _ *injected) verdict {
		x.send(reply{status: status, contentType: contentType, body: []byte(body)})
		return done
	}}
}

// EndlessLocalNodes answers /localnodes with a list that never ends.
func EndlessLocalNodes() Fault {
	return Fault{on: []string{LocalNodes}, act: endlessList}
}

// injected is a fault at work in a node.
type injected struct {
	Fault
	left   atomic.Int64  // how many requests it still strikes, if Fault.times is set
	healed chan struct{} // closed when it was lifted
}

// strikes says whether the fault is for this request, and counts it if so.
func (f *injected) strikes(x *exchange) bool {
	if len(f.on) > 0 && !slices.Contains(f.on, x.operation) && !(x.dynamoDB && slices.Contains(f.on, Operations)) {
		return false
	}
	return f.times == 0 || f.left.Add(-1) >= 0
}

// Inject has the node mistreat requests from now on. Several faults strike in the order in which
// they were injected: delays add up, anything else is the end of the request.
func (n *Node) Inject(f Fault) {
	added := &injected{Fault: f, healed: make(chan struct{})}
	added.left.Store(int64(f.times))
	n.mu.Lock()
	defer n.mu.Unlock()
	var faults []*injected
	if old := n.faults.Load(); old != nil {
		faults = slices.Clone(*old)
	}
	faults = append(faults, added)
	n.faults.Store(&faults)
}

// liftLocked lifts all faults.
func (n *Node) liftLocked() {
	old := n.faults.Swap(nil)
	if old == nil {
		return
	}
	for _, f := range *old {
		close(f.healed)
	}
}

// Heal lifts everything that was done to the node: it opens its port if that is
// not open, and lifts all faults. What the node is listed as is not a fault.
func (n *Node) Heal() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.liftLocked()
	return n.openLocked()
}
