package main

import (
	"math/rand/v2"
	"sort"
)

// skewed picks numbers from 0 up, the lower ones much more often, as a few
// customers place most orders: number i with a weight of 1/(i+flatness), as in
// Zipf's law. It counts in integers, because floating point may be rounded
// differently on another processor.
type skewed struct {
	upTo []uint64 // the weights of a number and all before it
}

const weightOfOne = 1 << 32

func newSkewed(n int, flatness uint64) *skewed {
	s := &skewed{upTo: make([]uint64, n)}
	var sum uint64
	for i := range s.upTo {
		sum += weightOfOne / (uint64(i) + flatness)
		s.upTo[i] = sum
	}
	return s
}

func (s *skewed) pick(draw *rand.PCG) int {
	x := draw.Uint64() % s.upTo[len(s.upTo)-1]
	return sort.Search(len(s.upTo), func(i int) bool { return x < s.upTo[i] })
}
