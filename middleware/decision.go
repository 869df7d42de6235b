package middleware

import (
	"fmt"

	"github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/resolver"
)

// Reason is why a request was routed as it was.
type Reason uint8

const (
	// ReasonDisabled means that the call did not pass through a plugin that is
	// switched on.
	ReasonDisabled Reason = iota
	// ReasonVoted means that the writes of the batch voted for the coordinator.
	ReasonVoted
	// ReasonKeyed means that the key of the write prefers the coordinator.
	ReasonKeyed
	// ReasonOperation requests are spread over the live nodes because the
	// operation is neither a BatchWriteItem nor a single write.
	ReasonOperation
	// ReasonMode requests are spread because the mode routes no request of this
	// kind by key.
	ReasonMode
	// ReasonNotReadModifyWrite requests are spread because in mode RMW a write
	// that does not read the item first has no affinity.
	ReasonNotReadModifyWrite
	// ReasonUnknownSchema requests are spread because the table's partition key
	// is not known (yet).
	ReasonUnknownSchema
	// ReasonNoKey requests are spread because the write lacks the partition key.
	ReasonNoKey
	// ReasonBadKey requests are spread because the partition key's value is not
	// a string, a number or a binary.
	ReasonBadKey
	// ReasonNoVotes requests are spread because no write of the batch has a
	// vote: for each of them one of the last three reasons holds, or the mode of
	// its table keeps it from voting, or it is not exactly one of put and delete.
	ReasonNoVotes
	// ReasonNoNodes requests are sent to the client's own endpoint, because
	// there is no node to choose from.
	ReasonNoNodes
)

var reasonNames = [...]string{
	ReasonDisabled:           "disabled",
	ReasonVoted:              "voted",
	ReasonKeyed:              "keyed",
	ReasonOperation:          "ordinary: operation",
	ReasonMode:               "ordinary: mode",
	ReasonNotReadModifyWrite: "ordinary: not read-modify-write",
	ReasonUnknownSchema:      "ordinary: unknown schema",
	ReasonNoKey:              "ordinary: no key",
	ReasonBadKey:             "ordinary: bad key",
	ReasonNoVotes:            "ordinary: no votes",
	ReasonNoNodes:            "no nodes",
}

// String returns the reason in a few words, "voted" for example.
func (r Reason) String() string {
	if int(r) >= len(reasonNames) {
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
	// Mode is the plugin's mode, as it was when the request was routed. It is
	// not that of a table in Options.TableModes.
	Mode Mode
}

type decisionKey struct{}

// DecisionOf returns how a request was routed, from the ResultMetadata of its
// output, and false, with the reason [ReasonDisabled], if it did not pass through
// a plugin that is switched on. It may be called by several goroutines at a
// time. The SDK returns no metadata with an error; see [CoordinatorError] for
// those.
func DecisionOf(metadata middleware.Metadata) (Decision, bool) {
	r, ok := metadata.Get(decisionKey{}).(*request)
	if !ok {
		return Decision{}, false
	}
	return r.decision(), true
}
