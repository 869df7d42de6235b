package middleware

import (
	"fmt"

	"github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/resolver"
)

// Reason is why a request was routed as it was.
type Reason uint8

const (
	// Voted: the writes of the batch voted for the coordinator.
	Voted Reason = iota + 1
	// OrdinaryMode: spread over the live nodes, because the mode routes no
	// request of this kind by key.
	OrdinaryMode
	// OrdinaryOperation: spread, because the operation is not a write of items.
	OrdinaryOperation
	// OrdinaryNoVotes: spread, because no write of the batch has a vote: the
	// partition key of its table is not known (yet), or its own is missing or
	// of a type that no key has.
	OrdinaryNoVotes
	// NoNodes: sent to the client's own endpoint, because there is no node to
	// choose from.
	NoNodes
)

var reasonNames = [...]string{
	Voted:             "voted",
	OrdinaryMode:      "ordinary: mode",
	OrdinaryOperation: "ordinary: operation",
	OrdinaryNoVotes:   "ordinary: no votes",
	NoNodes:           "no nodes",
}

// String returns the reason in a few words, "voted" for example.
func (r Reason) String() string {
	if r == 0 || int(r) >= len(reasonNames) {
		return fmt.Sprintf("Reason(%d)", uint8(r))
	}
	return reasonNames[r]
}

// A Decision is how one request was routed.
type Decision struct {
	// Coordinator is the canonical endpoint of the node that answered, or ""
	// if the request was not routed.
	Coordinator string
	// Reason is why the plan is as it is.
	Reason Reason
	// Preferred is the canonical endpoint of the node that the plan began
	// with. It is not the coordinator if that node was passed over.
	Preferred string
	// Votes are the votes of a batch in the order of its plan.
	Votes []resolver.Vote
	// Tried are the canonical endpoints that the request was sent to, or that
	// could not be reached, in this order; the last one is the coordinator.
	Tried []string
	// Mode is the mode that the request was routed in.
	Mode Mode
}

type decisionKey struct{}

// DecisionOf returns how a request was routed, from the ResultMetadata of its
// output, and false if it did not pass through a plugin.
func DecisionOf(metadata middleware.Metadata) (Decision, bool) {
	r, ok := metadata.Get(decisionKey{}).(*request)
	if !ok {
		return Decision{}, false
	}
	return r.decision(), true
}
