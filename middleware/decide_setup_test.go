package middleware

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

func ringOf(t *testing.T, n int) *resolver.Ring {
	t.Helper()
	var list []*resolver.Node
	for i := range n {
		node, err := resolver.ParseNode(fmt.Sprintf("http://node%02d.example.com:8000", i))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, node)
	}
	return resolver.NewRing(list...)
}

// preferredNode returns the ring index that a key prefers, by the definition of
// a plan rather than by its code.
func preferredNode(ring *resolver.Ring, key types.AttributeValue) int {
	hash, ok := resolver.Hash(key)
	if !ok {
		panic(fmt.Sprintf("no hash of %v", key))
	}
	return rand.New(rand.NewSource(hash)).Intn(ring.Len())
}

// nextAfter returns random bits that make an ordinary plan begin with another
// node than the given one, of ten.
func nextAfter(node int) func() uint64 {
	for bits := uint64(1); ; bits++ {
		if rand.New(rand.NewSource(int64(bits))).Intn(10) != node {
			return func() uint64 { return bits }
		}
	}
}

// knownKeys are partition keys that do not change. They keep account of what
// they are asked and told.
type knownKeys struct {
	keys    map[string]string
	asked   map[string]int
	missing map[string]int // by table and attribute
}

// newKnownKeys takes "table", "attribute", ...
func newKnownKeys(pairs ...string) *knownKeys {
	k := &knownKeys{keys: map[string]string{}, asked: map[string]int{}, missing: map[string]int{}}
	for i := 0; i < len(pairs); i += 2 {
		k.keys[pairs[i]] = pairs[i+1]
	}
	return k
}

// PartitionKey implements resolver.PartitionKeys.
func (k *knownKeys) PartitionKey(table string) (string, bool) {
	k.asked[table]++
	key, ok := k.keys[resolver.TableName(table)]
	return key, ok
}

// KeyMissing implements resolver.PartitionKeys.
func (k *knownKeys) KeyMissing(table, attribute string) { k.missing[table+"."+attribute]++ }

// want checks which tables were asked for, once each, and of which one was told
// that its key is missing.
func (k *knownKeys) want(t *testing.T, asked, missing []string) {
	t.Helper()
	for what, got := range map[string]map[string]int{"asked": k.asked, "missing": k.missing} {
		want := map[string][]string{"asked": asked, "missing": missing}[what]
		if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
			t.Errorf("%s: %v, want %v", what, names, want)
		}
		for name, times := range got {
			if times != 1 {
				t.Errorf("%s: %s %d times, want once", what, name, times)
			}
		}
	}
}
