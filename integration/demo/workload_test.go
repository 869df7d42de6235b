package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// writesOf makes writes of items that are named by a letter each, and numbers
// them by their place.
func writesOf(items string) []write {
	var writes []write
	for i, item := range items {
		writes = append(writes, write{item: string(item), hash: int64(i)})
	}
	return writes
}

// itemsOf returns the letters of batches.
func itemsOf(batches [][]write) string {
	var parts []string
	for _, batch := range batches {
		part := ""
		for _, w := range batch {
			part += w.item
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func TestBatches(t *testing.T) {
	for _, c := range []struct {
		items string
		size  int
		want  string
	}{
		{"", 3, ""},
		{"a", 3, "a"},
		{"abcdefg", 3, "abc def g"},
		{"aaa", 3, "a a a"},
		{"abacad", 3, "abc ad a"},        // set aside, and first in the next batch
		{"aabbcc", 3, "abc abc"},         // full batches
		{"aaabcdef", 3, "abc ade af"},    // the order of a stays
		{"aaaabcdef", 3, "a abc ade af"}, // closed early
		{"abcabc", 1, "a b c a b c"},
	} {
		if got := itemsOf(batches(writesOf(c.items), c.size)); got != c.want {
			t.Errorf("%s in batches of %d: got %s, want %s", c.items, c.size, got, c.want)
		}
	}
}

// TestBatchesKeepWhatTheyPromise holds the rules against many random inputs.
func TestBatchesKeepWhatTheyPromise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var items strings.Builder
		for range random.IntN(200) {
			items.WriteByte("aaaaabbbccdefghijklmnopqrstuvwxyz"[random.IntN(33)])
		}
		size := 1 + random.IntN(25)
		writes := writesOf(items.String())
		if err := checkBatches(writes, batches(writes, size), size); err != nil {
			t.Fatalf("%s in batches of %d: %v", items.String(), size, err)
		}
	}
}

func checkBatches(writes []write, all [][]write, size int) error {
	next := map[string][]int64{}
	for _, w := range writes {
		next[w.item] = append(next[w.item], w.hash)
	}
	for i, batch := range all {
		var seen []string
		for _, w := range batch {
			if slices.Contains(seen, w.item) {
				return fmt.Errorf("batch %d has %s twice", i, w.item)
			}
			seen = append(seen, w.item)
			if len(next[w.item]) == 0 || next[w.item][0] != w.hash {
				return fmt.Errorf("batch %d has write %d of %s out of order", i, w.hash, w.item)
			}
			next[w.item] = next[w.item][1:]
		}
		if len(batch) == 0 || len(batch) > size {
			return fmt.Errorf("batch %d has %d writes", i, len(batch))
		}
	}
	for item, left := range next {
		if len(left) > 0 {
			return fmt.Errorf("%d writes of %s are in no batch", len(left), item)
		}
	}
	return nil
}
