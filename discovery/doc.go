// Package discovery learns what routing has to know about a cluster, in the
// background: which nodes are live ([Nodes]) and which attribute of a table is
// its partition key ([Schemas]).
//
// It is the only package of the project with goroutines and I/O. A request
// never waits for either: it reads the last published [View] of the nodes
// through one atomic pointer and the partition keys through another, and what
// is not known yet is looked up for later requests.
//
// Users of the plugin meet [Scope] and its constructors, [State], [Status] and the
// counters. Everything else is what package middleware is made of, and may change
// from release to release.
//
// # Invariants
//
//   - A bad answer changes nothing. The list of nodes is only ever replaced by
//     a good one, so a request always has nodes to choose from: the seeds, if
//     nothing was learnt yet.
//   - Never two refreshes at a time, never two probes of one node, never two
//     lookups of one table, and never more than a few probes or lookups at all.
//   - Whoever makes a Nodes or a Schemas closes it; Close stops what it started
//     and waits for it.
package discovery
