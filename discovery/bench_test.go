package discovery

import (
	"fmt"
	"sync"
	"testing"

	lru "github.com/hashicorp/golang-lru/v2"
)

// BenchmarkSchemas reads the partition keys of 1,000 known tables, as each write
// does, from one goroutine and from many. The cache of golang-lru with its mutex
// is there to compare with.
func BenchmarkSchemas(b *testing.B) {
	const tables = 1000
	names := make([]string, tables)
	for i := range names {
		names[i] = fmt.Sprint("table", i)
	}
	schemas := newSchemas(b, SchemasConfig{})
	plain, err := lru.New[string, string](defaultSchemas)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		schemas.Learn(name, "pk")
		plain.Add(name, "pk")
	}
	for _, cache := range []struct {
		name string
		read func(string) (string, bool)
	}{{"", schemas.PartitionKey}, {"golang-lru/", plain.Get}} {
		for _, goroutines := range []int{1, 16} {
			b.Run(fmt.Sprintf("%sgoroutines=%d", cache.name, goroutines), func(b *testing.B) {
				b.ReportAllocs()
				var readers sync.WaitGroup
				for g := range goroutines {
					readers.Go(func() {
						for i := g; i < b.N; i += goroutines {
							if _, ok := cache.read(names[i%tables]); !ok {
								b.Error("not known")
								return
							}
						}
					})
				}
				readers.Wait()
			})
		}
	}
}
