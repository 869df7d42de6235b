package main

import "strings"

// blocks are eighths of a cell, from one to eight.
var blocks = []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}

// bar returns a bar that is a share of width cells, from 0 to 1, and padded to
// all of them. Whatever is more than nothing can be seen.
func bar(share float64, width int, ascii bool) string {
	steps := len(blocks)
	if ascii {
		steps = 1
	}
	full := width * steps
	n := int(min(max(share, 0), 1)*float64(full) + 0.5)
	if n == 0 && share > 0 {
		n = 1
	}
	cells, rest := n/steps, n%steps
	drawn := strings.Repeat("#", cells)
	if !ascii {
		drawn = strings.Repeat("█", cells)
	}
	if rest > 0 {
		drawn += blocks[rest-1]
		cells++
	}
	return drawn + strings.Repeat(" ", width-cells)
}
