package resolver

import (
	"sync"
	"unsafe"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spaolacci/murmur3"
)

// The byte that goes before a key's value, so that values of different types
// never collide: the string "1" and the number 1 are different keys.
const (
	prefixString = 0x01
	prefixNumber = 0x02
	prefixBinary = 0x03
)

// Hash returns the hash of a partition key's value, which seeds its plan
// ([Plan.PreferKey]): the first 64 bits of MurmurHash3 x64 128 with seed 0,
// read as a signed integer, of a byte for the type (1 string, 2 number, 3
// binary) and the value. A number is hashed as its text, exactly as written:
// Alternator does not normalise number keys either, and "1" and "1.0" are
// different partitions to it.
//
// It reports false for what cannot be a partition key: any other type, nil, a
// nil pointer, an unknown union member. Empty strings and empty binaries do
// have a hash.
func Hash(value types.AttributeValue) (int64, bool) {
	h := hashers.Get().(*hasher)
	sum, ok := h.hash(value)
	hashers.Put(h)
	return sum, ok
}

var hashers = sync.Pool{New: func() any { return new(hasher) }}

// maxKey is the longest value that is hashed from a copy, where the prefix can
// stand before it. It is the longest partition key that DynamoDB allows (source:
// its quotas), so that longer ones, which are streamed, are refused anyway.
const maxKey = 2048

// A hasher is the memory that hashing needs. It cannot come from the stack:
// murmur3 keeps what it is given in a struct that the compiler sees escape.
type hasher struct {
	key    [1 + maxKey]byte
	long   murmur3.Hash128
	prefix [1]byte
}

func (h *hasher) hash(value types.AttributeValue) (int64, bool) {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		if v != nil {
			return h.sum(prefixString, stringBytes(v.Value)), true
		}
	case *types.AttributeValueMemberN:
		if v != nil {
			return h.sum(prefixNumber, stringBytes(v.Value)), true
		}
	case *types.AttributeValueMemberB:
		if v != nil {
			return h.sum(prefixBinary, v.Value), true
		}
	}
	return 0, false
}

func (h *hasher) sum(prefix byte, value []byte) int64 {
	if len(value) <= maxKey {
		h.key[0] = prefix
		n := copy(h.key[1:], value)
		high, _ := murmur3.Sum128(h.key[:1+n])
		return int64(high)
	}
	if h.long == nil {
		h.long = murmur3.New128()
	}
	h.prefix[0] = prefix
	h.long.Reset()
	h.long.Write(h.prefix[:])
	h.long.Write(value)
	high, _ := h.long.Sum128()
	return int64(high)
}

// stringBytes views a string as bytes, without a copy. The hash only reads it.
func stringBytes(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
