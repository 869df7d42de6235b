package discovery

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

func TestTheCacheIsBounded(t *testing.T) {
	s := newSchemas(t, SchemasConfig{Size: 100})
	for i := range 1000 {
		s.Learn(fmt.Sprint("table", i), "pk")
	}
	if counters, _ := s.Counters(); counters != (SchemaCounters{Evictions: 900, Size: 100}) {
		t.Errorf("counters %+v", counters)
	}
	if known := len(*s.entries.Load()); known != 100 || s.recent.Len() != 100 {
		t.Errorf("%d entries, %d in the list", known, s.recent.Len())
	}
	for i := range 1000 {
		want := ""
		if i >= 900 {
			want = "pk"
		}
		wantKey(t, s, fmt.Sprint("table", i), want)
	}
}

func TestTheDefaultSize(t *testing.T) {
	s := newSchemas(t, SchemasConfig{})
	for i := range 1025 {
		s.Learn(fmt.Sprint("table", i), "pk")
	}
	if counters, _ := s.Counters(); counters.Size != 1024 || counters.Evictions != 1 {
		t.Errorf("counters %+v", counters)
	}
}

// TestWhatIsReadStays checks that reading, although it mostly takes no lock,
// keeps an entry from being the one that goes.
func TestWhatIsReadStays(t *testing.T) {
	s := newSchemas(t, SchemasConfig{Size: 10})
	for i := range 5 {
		s.Learn(fmt.Sprint("read", i), "pk")
	}
	for i := range 1000 {
		s.Learn(fmt.Sprint("table", i), "pk")
		if i%5 == 0 { // as few as must suffice: others come five at a time
			for j := range 5 {
				wantKey(t, s, fmt.Sprint("read", j), "pk")
			}
		}
	}
}

// TestSettledReadersTakeNoLock checks that readers of known tables do not wait
// for whoever holds the lock.
func TestSettledReadersTakeNoLock(t *testing.T) {
	s := newSchemas(t, SchemasConfig{PartitionKeys: map[string]string{"fixed": "id"}})
	for i := range 100 {
		s.Learn(fmt.Sprint("table", i), "pk")
	}
	for i := range 100 {
		wantKey(t, s, fmt.Sprint("table", i), "pk")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range 100 {
		wantKey(t, s, fmt.Sprint("table", i), "pk")
	}
	wantKey(t, s, "fixed", "id")
}

// TestManyTablesUnderManyReaders uses far more tables than there is room for,
// with everything else that can happen at the same time.
func TestManyTablesUnderManyReaders(t *testing.T) {
	const tables, size = 10_000, 1024
	d := newDescriber()
	s := newSchemas(t, SchemasConfig{Size: size})
	s.Start(d.describe)
	names := make([]string, tables)
	for i := range names {
		names[i] = fmt.Sprint("table", i)
	}
	var hits atomic.Int64
	var readers sync.WaitGroup
	for g := range 8 {
		readers.Go(func() {
			for i := range tables {
				name := names[(i*7+g*1000)%tables]
				key, ok := s.PartitionKey(name)
				if ok {
					hits.Add(1)
				}
				if ok != (key == "pk") {
					t.Errorf("table %s has the key %q, %t", name, key, ok)
				}
				switch i % 100 {
				case 0:
					s.Learn(name, "pk")
				case 1:
					s.Forget(name)
				case 2:
					s.KeyMissing(name, "pk")
				case 3:
					if counters, err := s.Counters(); counters.Size > size || err != nil {
						t.Errorf("counters %+v, %v", counters, err)
					}
				}
			}
		})
	}
	readers.Wait()
	counters, err := s.Counters()
	if err != nil || counters.Size > size || counters.Failures != 0 || hits.Load() == 0 {
		t.Errorf("counters %+v, %v, %d hits", counters, err, hits.Load())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if entries := *s.entries.Load(); len(entries) != s.recent.Len() {
		t.Errorf("%d entries, %d in the list", len(entries), s.recent.Len())
	}
	for name, entry := range *s.entries.Load() {
		if listed, ok := s.recent.Peek(name); !ok || listed != entry {
			t.Errorf("table %s is not what is in the list", name)
		}
	}
}

func TestAHitIsFree(t *testing.T) {
	s := newSchemas(t, SchemasConfig{PartitionKeys: map[string]string{"fixed": "id"}})
	s.Learn("orders", "pk")
	for _, table := range []string{"orders", "fixed", "arn:aws:dynamodb:us-east-1:000000000000:table/orders/index/x"} {
		if allocs := testing.AllocsPerRun(100, func() {
			if _, ok := s.PartitionKey(table); !ok {
				t.Error("not known")
			}
		}); allocs != 0 {
			t.Errorf("%s: %v allocations", table, allocs)
		}
	}
}
