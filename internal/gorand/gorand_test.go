package gorand

import (
	"math"
	"math/rand"
	"runtime"
	"sync"
	"testing"
)

// seeds are the corners of the seed reduction: zero and its multiples, the
// value put in its place, and both ends of int64.
var seeds = []int64{
	0, 1, -1, modulus, -modulus, modulus - 1, modulus + 1, 2 * modulus, -2 * modulus,
	zeroSeed, -zeroSeed, zeroSeed + modulus, math.MaxInt64, math.MinInt64, math.MinInt64 + 1,
	8815023923555918238, -4025731529809423594,
}

// bounds reach every path of Intn: one, powers of two, ring sizes, and bounds
// just above 2^30, where nearly half of all values are rejected.
var bounds = []int{
	1, 2, 3, 4, 5, 7, 8, 10, 100, 255, 256, 257, 1000, 1 << 20, 1 << 30,
	1<<30 + 1, 1<<30 + 2, 3 << 29, 1<<31 - 2, 1<<31 - 1,
}

func TestUint64EqualsMathRandBeyondTheClosedForm(t *testing.T) {
	for _, seed := range seeds {
		got, want := New(seed), rand.NewSource(seed).(rand.Source64)
		for k := range 3 * stateLen {
			if g, w := got.Uint64(), want.Uint64(); g != w {
				t.Fatalf("seed %d, draw %d: %#x, math/rand draws %#x", seed, k, g, w)
			}
		}
	}
}

func TestEachMethodEqualsMathRand(t *testing.T) {
	for _, seed := range seeds {
		got, want := New(seed), rand.New(rand.NewSource(seed))
		for k := range 100 {
			if g, w := got.Int63(), want.Int63(); g != w {
				t.Fatalf("seed %d, round %d: Int63 %d, want %d", seed, k, g, w)
			}
			if g, w := got.Int31(), want.Int31(); g != w {
				t.Fatalf("seed %d, round %d: Int31 %d, want %d", seed, k, g, w)
			}
			bound := bounds[k%len(bounds)]
			if g, w := got.Intn(bound), want.Intn(bound); g != w {
				t.Fatalf("seed %d, round %d: Intn(%d) %d, want %d", seed, k, bound, g, w)
			}
		}
	}
}

// TestAMillionSeedsAndBounds compares the draw that routes nearly every
// request, the first one, and the two after it, over random seeds and bounds.
// Seeding math/rand is what takes the time, so the seeds are shared out.
func TestAMillionSeedsAndBounds(t *testing.T) {
	const rounds = 1_000_000
	workers := runtime.GOMAXPROCS(0)
	var running sync.WaitGroup
	for worker := range workers {
		running.Go(func() {
			inputs := rand.New(rand.NewSource(int64(20 + worker)))
			want := rand.New(rand.NewSource(0))
			for range (rounds + workers - 1) / workers {
				seed := int64(inputs.Uint64())
				bound := 1 + inputs.Intn(1<<uint(1+inputs.Intn(31))-1)
				got := New(seed)
				want.Seed(seed)
				if g, w := First(seed, bound), New(seed).peek(bound); g != w {
					t.Errorf("seed %d: First(%d) is %d, the first Intn %d", seed, bound, g, w)
					return
				}
				for k := range 3 {
					if g, w := got.Intn(bound), want.Intn(bound); g != w {
						t.Errorf("seed %d: Intn(%d) number %d is %d, want %d", seed, bound, k, g, w)
						return
					}
				}
			}
		})
	}
	running.Wait()
}

// tooLarge is negative where an int has 32 bits, which is no bound either.
var tooLarge int64 = 1 << 31

// peek returns what the next Intn will return.
func (s Source) peek(n int) int { return s.Intn(n) }

func TestIntnRejectsBoundsOutsideItsRange(t *testing.T) {
	for name, draw := range map[string]func(n int){
		"Intn":  func(n int) { New(1).peek(n) },
		"First": func(n int) { First(1, n) },
	} {
		for _, n := range []int{0, -1, int(tooLarge)} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s(%d) did not panic", name, n)
					}
				}()
				draw(n)
			}()
		}
	}
}

func TestTheClosedFormDoesNotAllocate(t *testing.T) {
	var sum int
	if n := testing.AllocsPerRun(100, func() {
		s := New(int64(sum))
		for range closedDraws / 2 {
			sum += s.Intn(1000)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzIntnEqualsMathRand(f *testing.F) {
	for i, seed := range seeds {
		f.Add(seed, bounds[i%len(bounds)], uint16(i))
	}
	f.Fuzz(func(t *testing.T, seed int64, bound int, skip uint16) {
		if bound <= 0 || bound > 1<<31-1 {
			return
		}
		got, want := New(seed), rand.New(rand.NewSource(seed))
		for range skip % 700 {
			got.Uint64()
			want.Uint64()
		}
		if g, w := First(seed, bound), New(seed).peek(bound); g != w {
			t.Fatalf("seed %d: First(%d) is %d, the first Intn %d", seed, bound, g, w)
		}
		if g, w := got.Intn(bound), want.Intn(bound); g != w {
			t.Fatalf("seed %d after %d draws: Intn(%d) is %d, want %d", seed, skip%700, bound, g, w)
		}
	})
}

func BenchmarkIntn(b *testing.B) {
	b.Run("closed_form", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			s := New(int64(i))
			s.Intn(10)
		}
	})
	b.Run("math_rand", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			rand.New(rand.NewSource(int64(i))).Intn(10)
		}
	})
}
