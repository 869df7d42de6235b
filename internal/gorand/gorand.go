// Package gorand draws from Go's seeded generator without seeding it.
//
// The order in which every Alternator client tries nodes for a partition key is
// defined by math/rand: rand.New(rand.NewSource(hash)), then a few Intn calls.
// Seeding that generator fills 607 words of state, about 10 us and 5 KB, and
// the first draws read two of them each. A [Source] computes just those two.
//
// The algorithm is the additive lagged Fibonacci generator of math/rand's
// rng.go, which the Go 1 compatibility promise freezes for a given seed. With
// M = 2^31-1 and x0 the seed reduced to 1..M-1, seeding iterates
// x <- 48271*x mod M, throws 20 steps away, and makes slot i of the state from
// the next three values a, b, c as a<<40 ^ b<<20 ^ c ^ cooked[i]. A step is a
// multiplication, so n steps are one multiplication by 48271^n mod M, and slot
// i needs no loop: its first value is 48271^(21+3i) * x0 mod M.
//
// Draw k, counted from 0, is slot[333-k] + slot[606-k] modulo 2^64, for as long
// as no slot that is read has been written: draws 0 to 272. Later draws come
// from math/rand itself.
package gorand

import "math/rand"

const (
	modulus    = 1<<31 - 1 // M, the modulus of the seeding generator
	multiplier = 48271     // its multiplier
	zeroSeed   = 89482311  // what math/rand puts in place of a seed that is 0 mod M
	discarded  = 20        // steps that seeding throws away

	stateLen = 607 // words of state
	tapLag   = 273 // distance between the two words of a draw

	// closedDraws is how many draws have the closed form: the draw after them
	// reads the word that draw 0 wrote.
	closedDraws = tapLag
)

// slot is what it takes to compute one word of the seeded state.
type slot struct {
	factor uint64 // multiplier^(discarded+1+3i) mod modulus
	cooked uint64 // the constant that seeding mixes in
}

// pair is the two words whose sum is a draw.
type pair struct{ feed, tap slot }

// pairs holds the words of each draw with a closed form, in draw order. It is
// written once, before main, and only read afterwards.
var pairs = derivePairs()

// derivePairs finds math/rand's constants from math/rand's own output, so that
// they can neither be mistyped nor go out of step. A generator's outputs are
// its next state words: output n is word[n-607] + word[n-273]. So 607 outputs
// for one known seed, run backwards, give the state before the first of them,
// and removing the seeding values of that seed leaves the constants.
func derivePairs() *[closedDraws]pair {
	const seed = 1
	source := rand.NewSource(seed).(rand.Source64)

	// words[stateLen+n] is output n; words[j] below stateLen is the state in
	// the order in which it is consumed, that is from its feed end backwards.
	var words [2 * stateLen]uint64
	for n := range stateLen {
		words[stateLen+n] = source.Uint64()
	}
	for n := stateLen - 1; n >= 0; n-- {
		words[n] = words[n+stateLen] - words[n+stateLen-tapLag]
	}

	var slots [stateLen]slot
	factor := uint64(1)
	for range discarded + 1 {
		factor = mulmod(factor, multiplier)
	}
	for i := range slots {
		slots[i].factor = factor
		// Draw k writes slot 333-k (mod 607), so slot i is consumed as word
		// number 333-i (mod 607).
		word := words[(stateLen-tapLag-1-i+stateLen)%stateLen]
		slots[i].cooked = word ^ slots[i].value(seed)
		factor = mulmod(factor, multiplier*multiplier%modulus)
		factor = mulmod(factor, multiplier)
	}

	derived := new([closedDraws]pair)
	for k := range derived {
		derived[k] = pair{feed: slots[stateLen-tapLag-1-k], tap: slots[stateLen-1-k]}
	}
	return derived
}

// value computes the word for a reduced seed.
func (s *slot) value(x0 uint64) uint64 {
	a := mulmod(s.factor, x0)
	b := mulmod(a, multiplier) // b and c do not wait for each other
	c := mulmod(a, multiplier*multiplier%modulus)
	return a<<40 ^ b<<20 ^ c ^ s.cooked
}

// mulmod is a*b mod 2^31-1 for a, b < 2^31: with 2^31 = 1 the two halves of
// the product add up.
func mulmod(a, b uint64) uint64 {
	p := a * b
	p = p&modulus + p>>31
	if p >= modulus {
		p -= modulus
	}
	return p
}

// A Source yields the values of rand.New(rand.NewSource(seed)) in their order.
// It is a small value, costs nothing to make, and is not safe for concurrent
// use.
type Source struct {
	seed int64
	x0   uint64
	next int // number of the next draw
	rest rand.Source64
}

// New returns the source for seed, any int64.
func New(seed int64) Source { return Source{seed: seed, x0: reduce(seed)} }

// reduce returns the seed as the seeding generator begins with it. It does
// without a division: since 2^31 is 1 modulo M, the 31-bit digits of a number
// add up to its residue.
func reduce(seed int64) uint64 {
	magnitude := uint64(seed)
	if seed < 0 {
		magnitude = -magnitude
	}
	r := magnitude&modulus + magnitude>>31&modulus + magnitude>>62
	r = r&modulus + r>>31
	if r >= modulus {
		r -= modulus
	}
	switch {
	case r == 0:
		return zeroSeed
	case seed < 0:
		return modulus - r
	}
	return r
}

// First returns what the first Intn(n) of New(seed) returns. It is what nearly
// every decision needs and nothing else.
func First(seed int64, n int) int {
	p, x0 := &pairs[0], reduce(seed)
	v := uint32((p.feed.value(x0) + p.tap.value(x0)) &^ (1 << 63) >> 32) // as Int31
	if bound := uint32(n); n > 0 && n <= 1<<31-1 && v < 1<<31-bound {
		return int(v % bound) // as Intn, if no value is rejected
	}
	s := New(seed)
	return s.Intn(n)
}

// Uint64 returns the next draw, as [rand.Rand.Uint64] does.
func (s *Source) Uint64() uint64 {
	if s.next < closedDraws {
		p := &pairs[s.next]
		s.next++
		return p.feed.value(s.x0) + p.tap.value(s.x0)
	}
	return s.seeded().Uint64()
}

// seeded returns math/rand's own generator, advanced to the next draw.
func (s *Source) seeded() rand.Source64 {
	if s.rest == nil {
		s.rest = rand.NewSource(s.seed).(rand.Source64)
		for range closedDraws {
			s.rest.Uint64()
		}
	}
	return s.rest
}

// Int63 returns the next draw as a non-negative 63-bit integer, as
// [rand.Rand.Int63] does.
func (s *Source) Int63() int64 { return int64(s.Uint64() &^ (1 << 63)) }

// Int31 returns the next draw as a non-negative 31-bit integer, as
// [rand.Rand.Int31] does.
func (s *Source) Int31() int32 { return int32(s.Int63() >> 32) }

// Intn returns a number in [0, n) as [rand.Rand.Intn] does for n up to 2^31-1:
// values that would favour the low numbers are rejected and the next draw is
// taken. It panics for n <= 0 or n > 2^31-1.
func (s *Source) Intn(n int) int {
	if n <= 0 || n > 1<<31-1 {
		panic("gorand: Intn of a bound outside 1..2^31-1")
	}
	if n&(n-1) == 0 {
		return int(s.Int31()) & (n - 1)
	}
	bound := uint32(n)
	v := uint32(s.Int31())
	// Values from 2^31 - 2^31%n on are rejected. That is above 2^31-n, so most
	// values are known to be good without the division.
	if v >= 1<<31-bound {
		largest := 1<<31 - 1 - (1<<31)%bound
		for v > largest {
			v = uint32(s.Int31())
		}
	}
	return int(v % bound)
}
