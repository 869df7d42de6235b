package middleware

import (
	"fmt"

	"github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/resolver"
)

// Reason is why a request was routed as it was.
type Reason uint8

const (
	// Disabled means that the call did not pass through a plugin that is
	// switched on.
	Disabled Reason = iota
	// Voted means that the writes of the batch voted for the coordinator.
	Voted
	// Keyed means that the key of the write prefers the coordinator.
	Keyed
	// OrdinaryOperation requests are spread over the live nodes, because the operation is
	// neither a BatchWriteItem nor a single write.
	OrdinaryOperation
	// OrdinaryMode requests are spread because the mode routes no request of this kind by
	// key.
	OrdinaryMode
	// OrdinaryNotReadModifyWrite requests are spread because in mode RMW a write that does
	// not read the item first has no affinity.
	OrdinaryNotReadModifyWrite
	// OrdinaryUnknownSchema requests are spread because the table's partition key is not
	// known (yet).
	OrdinaryUnknownSchema
	// OrdinaryNoKey requests are spread because the write lacks the partition key.
	OrdinaryNoKey
	// OrdinaryBadKey requests are spread because the partition key's value is not a string,
	// a number or a binary.
	OrdinaryBadKey
	// OrdinaryNoVotes requests are spread because no write of the batch has a vote: for
	// each of them one of the last three reasons holds, or the mode of its table
	// keeps it from voting, or it is not exactly one of put and delete.
	OrdinaryNoVotes
	// NoNodes requests are sent to the client's own endpoint, because there is no node to
	// choose from.
	NoNodes
)

var reasonNames = [...]string{
	Disabled:                   "disabled",
	Voted:                      "voted",
	Keyed:                      "keyed",
	OrdinaryOperation:          "ordinary: operation",
	OrdinaryMode:               "ordinary: mode",
	OrdinaryNotReadModifyWrite: "ordinary: not read-modify-write",
	OrdinaryUnknownSchema:      "ordinary: unknown schema",
	OrdinaryNoKey:              "ordinary: no key",
	OrdinaryBadKey:             "ordinary: bad key",
	OrdinaryNoVotes:            "ordinary: no votes",
	NoNodes:                    "no nodes",
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
// output, and false, with the reason [Disabled], if it did not pass through a
// plugin that is switched on. It may be called by several goroutines at a time.
// The SDK returns no metadata with an error; see [CoordinatorError] for those.
func DecisionOf(metadata middleware.Metadata) (Decision, bool) {
	r, ok := metadata.Get(decisionKey{}).(*request)
	if !ok {
		return Decision{}, false
	}
	return r.decision(), true
}
