package main

import (
	"fmt"
	"strings"
)

// grouped returns a number with its thousands set apart, such as "5,402".
func grouped(n int) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// count returns a number of things, such as "1 item" and "2 items".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(n) + " " + thing + "s"
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
