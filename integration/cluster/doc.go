// Package cluster runs a cluster of embedded ScyllaDB Alternator nodes, for
// tests, demonstrations and benchmarks.
//
//	c, err := cluster.Start(func(o *cluster.Options) { o.Nodes = 3 })
//	defer c.Close()
//	client := c.Client() // a dynamodb.Client of node 0
//
//	c.Record(true)
//	c.Node(1).Inject(cluster.Hang().On("BatchWriteItem"))
//	... make requests, look at c.Requests() and c.Node(1).Count("BatchWriteItem") ...
//	err = c.Heal()
//
// Node i is an HTTP server on 127.0.0.(i+1); all nodes share one port and one
// store of tables, so that what one node wrote all nodes can read. They answer
// DynamoDB operations, GET /localnodes and GET / as Alternator does: its error
// bodies and status codes, its limit of 100 writes in a batch, its signatures
// (verified if Options.VerifySignatures is set), its silence about request
// identifiers and checksums. Operations that Alternator does not have, such as
// transactions, are unknown here, too.
//
// Everything that can go wrong with a node can be made to go wrong while the
// cluster runs, and be lifted with Heal:
//
//   - Node.Refuse, Node.DropPackets and Node.CloseIdle are about connections;
//   - Node.Inject takes faults of single requests: Hang, CloseAfterRequest,
//     ResetAfterRequest, ResetMidResponse, Answer, Slow, Hold,
//     GarbleLocalNodes, EndlessLocalNodes, each for all requests, for some
//     operations or for a number of requests;
//   - Cluster.Join, Node.Leave, Cluster.SetListed and their like are about
//     what /localnodes says, which Heal leaves alone.
//
// Node.Before and Node.AwaitCount let a test know when a request has arrived.
//
// What the cluster does not imitate: replication (what one node wrote is there
// for all at once), write isolation, streams, tags and time to live. Items live
// in memory, in minidyn's engine, which bounds what can be asked of them:
//
//   - Parameters that came before expressions work for writes (Expected,
//     AttributeUpdates); reads refuse them (KeyConditions, QueryFilter,
//     ScanFilter, AttributesToGet).
//   - Arithmetic is that of a float64.
//   - ScannedCount is Count.
//   - The items of a table are kept sorted, so that a new item costs more the
//     more there are; benchmarks do best to write the same keys again.
package cluster
