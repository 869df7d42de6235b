package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// report writes what people read. It keeps to 80 columns.
type report struct {
	output io.Writer
	ascii  bool
}

func newReport(output io.Writer, ascii bool) *report { return &report{output, ascii} }

const columns = 80

func (r *report) printf(format string, args ...any) { fmt.Fprintf(r.output, format, args...) }

// fact writes a line of a name and what is to be said to it.
func (r *report) fact(name, format string, args ...any) {
	r.printf("   %-13s %s\n", name, fmt.Sprintf(format, args...))
}

// opening tells what is about to be done.
func (r *report) opening(s *site, input *workload, ring *resolver.Ring) {
	r.printf("The same writes, sent in several ways, and which nodes coordinated them\n\n")
	if s.cluster != nil {
		r.fact("cluster", "%s, embedded", count(ring.Len(), "node"))
	} else {
		r.fact("cluster", "%s, found through %s", count(ring.Len(), "node"), s.seeds[0])
	}
	r.fact("writes", "%s of %s in %s, %s", grouped(input.writes), count(input.items, "item"),
		count(input.partitions, "partition"), input.source)
	if input.skipped > 0 {
		r.fact("skipped", "%s of the input", count(input.skipped, "line"))
	}
	r.fact("batches", "%s of at most %s", grouped(len(input.batches)), count(input.size, "write"))
	if s.cluster != nil {
		r.fact("bars", "the batches that each node received")
	} else {
		r.fact("bars", "the batches that each node answered, as the client knows")
	}
}

// outcome tells what came of one scenario.
func (r *report) outcome(number int, o *outcome) {
	r.printf("\n%d. %s: %s\n\n", number, o.name, o.title)
	r.bars(o.requests)
	r.printf("\n")
	r.fact("affinity", "%s of the writes met the coordinator that their key prefers", percent(o.share()))
	if o.mode == middleware.AnyWrite {
		r.fact("votes", "decided %s of %s, once the tables' keys were known", grouped(o.voted), count(o.calls, "call"))
	}
	if o.outage != "" {
		r.fact("outage", "%s", o.outage)
	}
	r.fact("failovers", "%s", o.failoverText())
	r.fact("failed", "%s of %s", grouped(o.failed), count(o.calls, "call"))
	if o.differences.any() {
		r.fact("read back", "%v", &o.differences)
	} else {
		r.fact("read back", "%s, each as it was written last", count(o.items, "item"))
	}
}

// failoverText also tells of the calls that had no need to fail over, because
// the node that they preferred was known to be dead.
func (o *outcome) failoverText() string {
	if o.passedOver == 0 {
		return grouped(o.failovers)
	}
	return fmt.Sprintf("%s; %s passed over a node that had given no answer",
		grouped(o.failovers), count(o.passedOver, "more call"))
}

// bars draws how many requests each node received.
func (r *report) bars(nodes []nodeCount) {
	longest, most := 0, 1
	for _, n := range nodes {
		longest = max(longest, len(label(n.endpoint)))
		most = max(most, n.count)
	}
	digits := len(grouped(most))
	width := max(columns-3-longest-2-2-digits-1, 10)
	for _, n := range nodes {
		r.printf("   %-*s  %s  %*s\n", longest, label(n.endpoint),
			bar(float64(n.count)/float64(most), width, r.ascii), digits, grouped(n.count))
	}
}

// label is an endpoint without its scheme, which all nodes share.
func label(endpoint string) string {
	_, hostPort, _ := strings.Cut(endpoint, "://")
	return hostPort
}

// smallBatch is a size at which affinity shows well.
const smallBatch = 5

// closing compares the scenarios, all of which went well.
func (r *report) closing(input *workload, outcomes []*outcome) {
	r.printf("\nWrites that met the coordinator that their key prefers\n\n")
	anyWrite := false
	for _, o := range outcomes {
		r.printf("   %-9s  %s  %7s\n", o.name, bar(o.share(), columns-3-9-2-2-7-1, r.ascii), percent(o.share()))
		anyWrite = anyWrite || o.mode == middleware.AnyWrite
	}
	if anyWrite && input.size > smallBatch {
		r.printf("\nA batch has one coordinator for all its writes: the fewer they are, the more of\n"+
			"them meet the one that they prefer. Try -batch %d.\n", smallBatch)
	}
	skipped := ""
	if input.skipped > 0 {
		skipped = fmt.Sprintf(" Skipped: %s of the input.", count(input.skipped, "line"))
	}
	r.printf("\nOK: no call failed and no write was lost.%s\n", skipped)
}
