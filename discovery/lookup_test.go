package discovery

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// underway returns how many goroutines look up tables, how many lookups run, and
// how many wait.
func underway(s *Schemas) (workers, running, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.workers, len(s.lookups) - len(s.waiting), len(s.waiting)
}

func TestOneLookupPerTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		d.takes = time.Second
		s := newSchemas(t, SchemasConfig{})
		s.Start(d.describe)
		var readers sync.WaitGroup
		for range 100 {
			readers.Go(func() {
				for {
					if key, ok := s.PartitionKey("orders"); ok {
						if key != "pk" {
							t.Errorf("the key is %q", key)
						}
						return
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		readers.Wait()
		d.wantCalls(t, "orders")
	})
}

// TestReadersDoNotRepeatALookupThatJustEnded lets readers run freely, so that
// some of them see the cache before a lookup ends and ask for one after it did.
func TestReadersDoNotRepeatALookupThatJustEnded(t *testing.T) {
	d := newDescriber()
	s := newSchemas(t, SchemasConfig{})
	s.Start(d.describe)
	const tables = 300
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for i := range tables {
				table := fmt.Sprint("table", i)
				for {
					if _, ok := s.PartitionKey(table); ok {
						break
					}
					runtime.Gosched()
				}
			}
		})
	}
	readers.Wait()
	calls := d.taken()
	slices.Sort(calls)
	if repeated := len(calls) - len(slices.Compact(slices.Clone(calls))); repeated != 0 || len(calls) != tables {
		t.Errorf("%d lookups of %d tables, %d of them again", len(calls), tables, repeated)
	}
}

// TestALookupForWhatIsOutOfDate covers what the test above meets by chance: the
// entry that called for a lookup is another when the lookup is about to begin.
func TestALookupForWhatIsOutOfDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		s := newSchemas(t, SchemasConfig{})
		s.Start(d.describe)
		s.Learn("orders", "id")
		s.lookUp("orders", nil) // as by a reader who saw nothing
		learnt := (*s.entries.Load())["orders"]
		s.Learn("orders", "id2")
		s.lookUp("orders", learnt)
		synctest.Wait()
		d.wantCalls(t)
		wantKey(t, s, "orders", "id2")
	})
}

func TestAFewTablesAreLookedUpAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tables = 1000
		d := newDescriber()
		d.takes = time.Second
		s := newSchemas(t, SchemasConfig{})
		s.Start(d.describe)
		start := time.Now()
		for i := range tables {
			wantKey(t, s, fmt.Sprint("table", i), "")
		}
		time.Sleep(tables/maxLookups*time.Second + 1)
		for i := range tables {
			wantKey(t, s, fmt.Sprint("table", i), "pk")
		}
		if d.most != maxLookups {
			t.Errorf("%d lookups at a time, want %d", d.most, maxLookups)
		}
		if got := d.takenTimes(start); len(got) != tables {
			t.Errorf("%d lookups", len(got))
		}
		if workers, running, waiting := underway(s); workers != 0 || running != 0 || waiting != 0 {
			t.Errorf("%d workers, %d lookups run and %d wait when all is done", workers, running, waiting)
		}
	})
}

// TestTheQueueIsBounded checks that tables that found no room are looked up when
// they are used again.
func TestTheQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		d.takes = time.Second
		s := newSchemas(t, SchemasConfig{Size: 20})
		s.Start(d.describe)
		for i := range 100 {
			s.PartitionKey(fmt.Sprint("table", i))
			synctest.Wait() // a lookup that can begin has begun
		}
		if workers, running, waiting := underway(s); workers != maxLookups || running != maxLookups || waiting != 20 {
			t.Errorf("%d workers, %d lookups run and %d wait", workers, running, waiting)
		}
		time.Sleep(time.Minute)
		d.taken()
		wantKey(t, s, "table99", "")
		time.Sleep(time.Second + 1)
		wantKey(t, s, "table99", "pk")
	})
}

func TestAPassingFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, log := newDescriber(), &logs{}
		d.set("orders", "", errPassing)
		s := newSchemas(t, SchemasConfig{Logger: log})
		s.Start(d.describe)
		start := time.Now()
		use := func(d time.Duration) {
			for range d / (100 * time.Millisecond) {
				s.PartitionKey("orders")
				time.Sleep(100 * time.Millisecond)
			}
		}
		use(250 * time.Second)
		var got []time.Duration
		last := start
		for _, at := range d.takenTimes(start) {
			got = append(got, start.Add(at).Sub(last).Round(time.Second))
			last = start.Add(at)
		}
		if want := seconds(0, 2, 4, 8, 16, 32, 60, 60, 60); !slices.Equal(got, want) {
			t.Errorf("looked up after %v, want %v", got, want)
		}
		counters, err := s.Counters()
		if counters != (SchemaCounters{Lookups: 9, Failures: 9, Size: 1}) || !errors.Is(err, errPassing) || !strings.Contains(err.Error(), "orders") {
			t.Errorf("counters %+v, %v", counters, err)
		}
		if got := log.with(""); len(got) != 0 {
			t.Errorf("logged %q", got)
		}
		d.set("orders", "id", nil)
		use(61 * time.Second)
		wantKey(t, s, "orders", "id")
	})
}

func TestALastingFailure(t *testing.T) {
	for name, described := range map[string]description{
		"no table":         {"", errNoTable},
		"no partition key": {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, log := newDescriber(), &logs{}
				d.set("orders", described.key, described.err)
				s := newSchemas(t, SchemasConfig{Logger: log})
				s.Start(d.describe)
				start := time.Now()
				for range 1000 {
					s.PartitionKey("orders")
					time.Sleep(time.Second)
				}
				var got []time.Duration
				for _, at := range d.takenTimes(start) {
					got = append(got, at.Round(10*time.Second))
				}
				if want := seconds(0, 300, 600, 900); !slices.Equal(got, want) {
					t.Errorf("looked up after %v, want %v", got, want)
				}
				if lines := log.with("WARN keyroute: writes to table orders are routed without affinity"); len(lines) != 1 || len(log.with("")) != 1 {
					t.Errorf("logged %q, want one line", log.with(""))
				}
				if _, err := s.Counters(); !errors.Is(err, ErrLasting) {
					t.Errorf("the last error is %v", err)
				}
				// The table is made: nothing waits for the rest of the five minutes.
				s.Learn("orders", "id")
				wantKey(t, s, "orders", "id")
			})
		})
	}
}

func TestADeletedTableIsAskedAboutAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		d.set("orders", "", errNoTable)
		s := newSchemas(t, SchemasConfig{})
		s.Start(d.describe)
		wantKey(t, s, "orders", "")
		synctest.Wait()
		s.Forget("orders")
		d.set("orders", "id", nil)
		wantKey(t, s, "orders", "")
		synctest.Wait()
		wantKey(t, s, "orders", "id")
	})
}

// TestLookupsHaveTheirOwnDeadline checks that it is neither that of a caller nor
// shared.
func TestLookupsHaveTheirOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		d.takes = time.Hour
		s := newSchemas(t, SchemasConfig{Timeout: 3 * time.Second})
		s.Start(d.describe)
		for i := range 2 * maxLookups {
			s.PartitionKey(fmt.Sprint("table", i))
		}
		time.Sleep(3*time.Second + 1)
		counters, err := s.Counters()
		if counters.Failures != maxLookups || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("counters %+v, %v after 3 s", counters, err)
		}
		time.Sleep(3 * time.Second)
		if counters, _ := s.Counters(); counters.Failures != 2*maxLookups {
			t.Errorf("counters %+v after 6 s", counters)
		}
	})
}

// TestWhatChangesDuringALookup checks that its answer does not count if the table
// may have become another since it began.
func TestWhatChangesDuringALookup(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *Schemas)
		during string // known while the lookup runs
		after  string // and when it is over
		again  bool   // the next use asks again
	}{
		{"nothing", func(*Schemas) {}, "", "old", false},
		{"forgotten", func(s *Schemas) { s.Forget("orders") }, "", "", true},
		{"learnt", func(s *Schemas) { s.Learn("orders", "new") }, "new", "new", false},
		{"forgotten and learnt", func(s *Schemas) { s.Forget("orders"); s.Learn("orders", "new") }, "new", "new", false},
		{"learnt and forgotten", func(s *Schemas) { s.Learn("orders", "new"); s.Forget("orders") }, "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDescriber()
				d.takes = 2 * time.Second
				d.set("orders", "old", nil)
				s := newSchemas(t, SchemasConfig{})
				s.Start(d.describe)
				s.PartitionKey("orders")
				time.Sleep(time.Second)
				c.change(s)
				wantKey(t, s, "orders", c.during)
				time.Sleep(2 * time.Second)
				d.wantCalls(t, "orders")
				d.set("orders", "asked again", nil)
				wantKey(t, s, "orders", c.after)
				time.Sleep(3 * time.Second)
				if c.again {
					d.wantCalls(t, "orders")
					wantKey(t, s, "orders", "asked again")
				} else {
					d.wantCalls(t)
				}
			})
		})
	}
}

// TestForgettingAWaitingLookup checks that a lookup that has not begun when its
// table changes is as good as a new one.
func TestForgettingAWaitingLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		d.takes = time.Second
		s := newSchemas(t, SchemasConfig{})
		s.Start(d.describe)
		for i := range maxLookups {
			s.PartitionKey(fmt.Sprint("table", i))
		}
		s.PartitionKey("orders")
		synctest.Wait()
		s.Forget("orders")
		time.Sleep(2*time.Second + 1)
		wantKey(t, s, "orders", "pk")
		if calls := d.taken(); len(calls) != maxLookups+1 {
			t.Errorf("described %q", calls)
		}
	})
}
