package main

import (
	"slices"
	"strings"
	"testing"
)

const output = `goos: linux
BenchmarkRing/addresses=1000-2     	     891	    900000 ns/op	  280414 B/op	    4003 allocs/op
BenchmarkRing/addresses=1000-2     	     891	    800000 ns/op	  280414 B/op	    4003 allocs/op
BenchmarkCall/bare-2               	       5	    100 ns/op	   10 B/op	   385 allocs/op
BenchmarkCall/none-2               	       5	    103 ns/op	   10 B/op	   395 allocs/op
BenchmarkCall/bare-2               	       5	    200 ns/op	   10 B/op	   386 allocs/op
BenchmarkCall/none-2               	       5	    204 ns/op	   10 B/op	   396 allocs/op
BenchmarkCall/bare-2               	       5	    100 ns/op	   10 B/op	   386 allocs/op
BenchmarkCall/none-2               	       5	    150 ns/op	   10 B/op	   396 allocs/op
PASS
`

func TestResults(t *testing.T) {
	r, err := parse(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	if got := r["BenchmarkRing/addresses=1000"]["ns/op"]; !slices.Equal(got, []float64{900000, 800000}) {
		t.Errorf("values %v", got)
	}
	if got, ok := of("BenchmarkRing/addresses=1000", "ns/op")(r); got != 800000 || !ok {
		t.Errorf("best %v, %t", got, ok)
	}
	if got, ok := paired("BenchmarkCall/none", "BenchmarkCall/bare")(r); got != 1.03 || !ok {
		t.Errorf("paired %v, %t", got, ok)
	}
	if got, ok := difference("BenchmarkCall/none", "BenchmarkCall/bare", "allocs/op")(r); got != 10 || !ok {
		t.Errorf("difference %v, %t", got, ok)
	}
	if got, ok := ratio("BenchmarkCall/none", "BenchmarkCall/bare")(r); got != 1.03 || !ok {
		t.Errorf("ratio %v, %t", got, ok)
	}
}

func TestATargetThatWasNotMeasuredIsMissed(t *testing.T) {
	for _, target := range targets {
		if target.print(results{}) {
			t.Errorf("%s: met without a measurement", target.name)
		}
	}
}
