package middleware

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/resolver"
)

// decide makes the plan of a request from its typed input and says why it is
// so. It is the whole of what routing costs before the request is sent: no I/O,
// no lock, and for a request without affinity one random number.
func decide(plan *resolver.Plan, ring *resolver.Ring, mode Mode, input any, keys resolver.PartitionKeys, random func() uint64) Reason {
	if ring.Len() == 0 {
		plan.PreferAny(ring, 0)
		return NoNodes
	}
	reason := OrdinaryOperation
	switch in := input.(type) {
	case *dynamodb.BatchWriteItemInput:
		switch {
		case mode != AnyWrite:
			reason = OrdinaryMode
		case plan.PreferVoted(ring, in.RequestItems, keys):
			return Voted
		default:
			reason = OrdinaryNoVotes
		}
	}
	plan.PreferAny(ring, random())
	return reason
}
