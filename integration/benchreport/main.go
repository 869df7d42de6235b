// Command benchreport reads the output of go test -bench on its standard input
// and prints the ratios that keyroute promises, with what missed its target.
// `make bench` runs it.
//
// Ratios are taken within one run on one machine, and of medians where a
// benchmark ran several times, so that they mean the same everywhere.
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

// median returns the median of a benchmark's values in a unit, and whether
// there are any.
func (r results) median(benchmark, unit string) (float64, bool) {
	values := slices.Sorted(slices.Values(r[benchmark][unit]))
	if len(values) == 0 {
		return 0, false
	}
	return values[len(values)/2], true
}
