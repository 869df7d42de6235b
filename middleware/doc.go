// Package middleware attaches coordinator routing to a DynamoDB client of the
// AWS SDK for Go v2 that talks to a ScyllaDB Alternator cluster.
//
// Every Alternator node can coordinate every request. A [Plugin] chooses which
// one does: writes go to the coordinator that their partition keys prefer, the
// same one that Alternator clients in other languages choose, and everything
// else is spread over the live nodes.
//
//	plugin, err := middleware.New(func(o *middleware.Options) {
//		o.Mode = middleware.AnyWrite
//		o.Seeds = []string{"http://10.0.0.1:8000"}
//	})
//	...
//	defer plugin.Close(ctx)
//	client := dynamodb.NewFromConfig(cfg, plugin.Attach)
//
// # Invariants
//
//   - Routing is a preference. Nothing that goes wrong in choosing fails a
//     request or delays it.
//   - One request has one [Mode], one view of the nodes and one plan, kept
//     across its retries.
//   - Attempts, back-off and what is retried stay the client's own Retryer's
//     choice, but for one thing: after a node gave no answer, the next attempt
//     goes to an untried coordinator at once and takes no retry token.
//   - A request that could not be sent goes on to the next coordinator within
//     the same attempt, whatever the Retryer.
//   - The error of a call is the real last one, with a [CoordinatorError] that
//     names the node.
package middleware
