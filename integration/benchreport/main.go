// Command benchreport reads the output of go test -bench on its standard input
// and prints the ratios that keyroute promises, with what missed its target.
// `make bench` runs it.
//
// Everything is taken within one run on one machine. Of a benchmark that does
// nothing but compute, the best of several rounds counts: noise only adds. Calls
// over loopback are compared round by round, and the median of the ratios
// counts: the machine's mood changes more slowly than rounds do.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	results, err := parse(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchreport:", err)
		os.Exit(2)
	}
	missed := 0
	fmt.Printf("%-58s %14s %12s\n", "", "measured", "target")
	for _, t := range targets {
		if !t.print(results) {
			missed++
		}
	}
	if missed > 0 {
		fmt.Printf("\n%d targets missed\n", missed)
		os.Exit(1)
	}
	fmt.Println("\nall targets met")
}

// results are the measured values by benchmark and unit.
type results map[string]map[string][]float64

// line is a benchmark's line: its name without the number of processors, the
// number of iterations, and pairs of value and unit.
var line = regexp.MustCompile(`^(Benchmark\S+?)(-\d+)?\s+\d+\s+(.*)$`)

func parse(r io.Reader) (results, error) {
	all := results{}
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		m := line.FindStringSubmatch(scanner.Text())
		if m == nil {
			continue
		}
		units := all[m[1]]
		if units == nil {
			units = map[string][]float64{}
			all[m[1]] = units
		}
		fields := strings.Fields(m[3])
		for i := 0; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m[1], err)
			}
			units[fields[i+1]] = append(units[fields[i+1]], value)
		}
	}
	return all, scanner.Err()
}

// best returns the lowest of a benchmark's values in a unit, and whether there
// are any.
func (r results) best(benchmark, unit string) (float64, bool) {
	values := r[benchmark][unit]
	if len(values) == 0 {
		return 0, false
	}
	return slices.Min(values), true
}

// pairs returns the median of the ratios between two benchmarks' values of the
// same round.
func (r results) pairs(benchmark, to, unit string) (float64, bool) {
	a, b := r[benchmark][unit], r[to][unit]
	if len(a) == 0 || len(a) != len(b) {
		return 0, false
	}
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2], true
}
