package main

import "fmt"

// A target is one promise: a value made of measured ones, and its bound.
type target struct {
	name   string
	format string // of the value and the bound
	bound  float64
	least  bool // the value must be at least the bound, not at most
	value  func(results) (float64, bool)
}

var targets = []target{
	{"25 writes on 10 nodes: times faster than the reference", "%.0f x", 150, true,
		ratio("BenchmarkBatchDecisionReference/nodes=10/items=25", "BenchmarkBatchDecision/nodes=10/items=25")},
	{"25 writes on 10 nodes: a decision", "%.0f ns", 2000, false,
		of("BenchmarkBatchDecision/nodes=10/items=25", "ns/op")},
	{"25 writes on 10 nodes: allocations", "%.0f", 0, false,
		of("BenchmarkBatchDecision/nodes=10/items=25", "allocs/op")},
	{"100 writes on 1,000 nodes: allocations", "%.0f", 0, false,
		of("BenchmarkBatchDecision/nodes=1000/items=100", "allocs/op")},
	{"25 writes: a write on 1,000 nodes over one on 3", "%.2f x", 1.3, false,
		ratio("BenchmarkBatchDecision/nodes=1000/items=25", "BenchmarkBatchDecision/nodes=3/items=25")},
	single("S", 8), single("S", 36), single("S", 1024),
	single("N", 8), single("N", 36), single("N", 1024),
	single("B", 8), single("B", 36), single("B", 1024),
	{"A ring of 1,000 addresses", "%.0f ns", 1e6, false, of("BenchmarkRing/addresses=1000", "ns/op")},
	{"A call in mode none over a bare one", "%.3f x", 1.05, false, paired("BenchmarkCall/none", "BenchmarkCall/bare")},
	{"A call in mode any_write over a bare one", "%.3f x", 1.05, false, paired("BenchmarkCall/any_write", "BenchmarkCall/bare")},
	{"A call in mode any_write: allocations more than a bare one", "%.0f", 12, false,
		difference("BenchmarkCall/any_write", "BenchmarkCall/bare", "allocs/op")},
	{"The same on 3 nodes", "%.0f", 16, false,
		difference("BenchmarkCall/any_write_on_3_nodes", "BenchmarkCall/bare", "allocs/op")},
	{"A schema cache hit with 16 goroutines", "%.1f ns", 50, false, of("BenchmarkSchemas/goroutines=16", "ns/op")},
}

// single is the target of a single write's decision: what it takes beyond
// hashing the key.
func single(kind string, bytes int) target {
	name := fmt.Sprintf("/type=%s/bytes=%d", kind, bytes)
	return target{
		fmt.Sprintf("A %s key of %d bytes: a decision without the hashing", kind, bytes), "%.0f ns", 60, false,
		difference("BenchmarkSingleDecision"+name, "BenchmarkHashOnly"+name, "ns/op"),
	}
}

func of(benchmark, unit string) func(results) (float64, bool) {
	return func(r results) (float64, bool) { return r.best(benchmark, unit) }
}

func ratio(benchmark, to string) func(results) (float64, bool) {
	return both(benchmark, to, "ns/op", func(a, b float64) float64 { return a / b })
}

func difference(benchmark, from, unit string) func(results) (float64, bool) {
	return both(benchmark, from, unit, func(a, b float64) float64 { return a - b })
}

func paired(benchmark, to string) func(results) (float64, bool) {
	return func(r results) (float64, bool) { return r.pairs(benchmark, to, "ns/op") }
}

func both(first, second, unit string, f func(a, b float64) float64) func(results) (float64, bool) {
	return func(r results) (float64, bool) {
		a, okA := r.best(first, unit)
		b, okB := r.best(second, unit)
		return f(a, b), okA && okB
	}
}

// print prints a line and reports whether the target was met. A target that
// was not measured is missed.
func (t target) print(r results) bool {
	sign := "<="
	if t.least {
		sign = ">="
	}
	bound := sign + " " + fmt.Sprintf(t.format, t.bound)
	value, ok := t.value(r)
	if !ok {
		fmt.Printf("%-58s %14s %12s  MISSED\n", t.name, "not measured", bound)
		return false
	}
	met := value <= t.bound
	if t.least {
		met = value >= t.bound
	}
	verdict := ""
	if !met {
		verdict = "  MISSED"
	}
	fmt.Printf("%-58s %14s %12s%s\n", t.name, fmt.Sprintf(t.format, value), bound, verdict)
	return met
}
