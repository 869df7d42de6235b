package integration

import (
	"encoding/binary"
	"math/bits"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

// keyHashing returns a binary key with a given hash, so that a plan that is
// known by its seed can be had through the front door.
//
// The hash of 15 bytes and their prefix is that of one block of MurmurHash3 x64
// 128, all of whose steps can be undone. Its second half is free, and is chosen
// so that the block begins with the prefix of binaries.
func keyHashing(t testing.TB, hash int64) types.AttributeValue {
	t.Helper()
	for second := range uint64(100_000) {
		// The end: two additions, the mixing of each half, two additions, the
		// length.
		mixed := uint64(hash) - second
		h1, h2 := unmix(mixed), unmix(second)
		h2 -= h1
		h1 -= h2
		h1, h2 = h1^16, h2^16

		// The block, from a state of zeros.
		k2 := bits.RotateLeft64((h2-0x38495ab5)*inverse(5)-h1, -31)
		k1 := bits.RotateLeft64((h1-0x52dce729)*inverse(5), -27)
		k1 = bits.RotateLeft64(k1*inverse(c2), -31) * inverse(c1)
		k2 = bits.RotateLeft64(k2*inverse(c1), -33) * inverse(c2)

		var block [16]byte
		binary.LittleEndian.PutUint64(block[:], k1)
		binary.LittleEndian.PutUint64(block[8:], k2)
		if block[0] != 0x03 {
			continue
		}
		key := bin(string(block[1:]))
		if got, _ := resolver.Hash(key); got != hash {
			t.Fatalf("the key for the hash %d has the hash %d", hash, got)
		}
		return key
	}
	t.Fatalf("no key has the hash %d", hash)
	return nil
}

// The constants of a block.
const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f

// unmix undoes the finalizer of one half.
func unmix(k uint64) uint64 {
	k ^= k >> 33
	k *= inverse(0xc4ceb9fe1a85ec53)
	k ^= k >> 33
	k *= inverse(0xff51afd7ed558ccd)
	k ^= k >> 33
	return k
}

// inverse returns what a multiplication by an odd number is undone by: each of
// Newton's steps doubles the bits that are right, of which there are 3 at first.
func inverse(n uint64) uint64 {
	x := n
	for range 5 {
		x *= 2 - n*x
	}
	return x
}
