// Package resolver chooses the coordinator of a DynamoDB request.
//
// It is pure: keys and a list of nodes go in, an order of nodes comes out. It
// does no I/O, takes no lock, reads no clock and starts no goroutine, and every
// Alternator client in every language computes the same answers from the same
// input.
//
// A [Node] is one Alternator endpoint in its canonical form, a [Ring] the
// sorted list of them that all choices are made from. A [Plan] is the order in
// which one request tries the nodes of a ring:
//
//   - [Plan.PreferKey]: the order that one partition key prefers, by [Hash];
//   - [Plan.PreferVoted]: the order that the writes of a batch vote for;
//   - [Plan.PreferAny]: any order, for requests without affinity.
//
// For example, the node that should coordinate all writes of one item:
//
//	ring := resolver.NewRing(nodes...)
//	hash, ok := resolver.Hash(&types.AttributeValueMemberS{Value: "user-001"})
//	if ok {
//		var plan resolver.Plan
//		plan.PreferKey(ring, hash)
//		coordinator := ring.Node(plan.At(0))
//	}
//
// # Invariants
//
//   - A ring is immutable, sorted bytewise by canonical endpoint and free of
//     duplicates. Whether its nodes are well is not its business: health never
//     changes a ring, so one client's trouble never moves a key.
//   - A plan is a permutation of its ring. Its first node is known when it is
//     made; the rest is worked out when it is first asked for.
//   - Map order, write order, put or delete, sort keys and payload never change
//     a plan.
package resolver
