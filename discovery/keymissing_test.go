package discovery

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// startKnown returns a cache that knows the table orders with the key "pk".
func startKnown(t *testing.T) (*Schemas, *describer) {
	t.Helper()
	d := newDescriber()
	s := newSchemas(t, SchemasConfig{})
	s.Start(d.describe)
	wantKey(t, s, "orders", "")
	synctest.Wait()
	wantKey(t, s, "orders", "pk")
	d.wantCalls(t, "orders")
	return s, d
}

func TestATableThatWasMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := startKnown(t)
		d.takes = time.Second
		d.set("orders", "id", nil)
		for range 100 {
			s.KeyMissing("orders", "pk")
		}
		wantKey(t, s, "orders", "pk") // stays meanwhile
		time.Sleep(time.Second + 1)
		wantKey(t, s, "orders", "id")
		s.KeyMissing("orders", "pk") // by a write that was decided before
		time.Sleep(time.Second + 1)
		d.wantCalls(t, "orders")
	})
}

func TestATableThatIsAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := startKnown(t)
		start := time.Now()
		last := start
		for range 2500 {
			s.KeyMissing("orders", "pk")
			wantKey(t, s, "orders", "pk")
			time.Sleep(100 * time.Millisecond)
		}
		var got []time.Duration
		for _, at := range d.takenTimes(start) {
			got = append(got, start.Add(at).Sub(last).Round(time.Second))
			last = start.Add(at)
		}
		if want := seconds(0, 2, 4, 8, 16, 32, 60, 60, 60); !slices.Equal(got, want) {
			t.Errorf("looked up after %v, want %v", got, want)
		}
	})
}

func TestATableThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := startKnown(t)
		d.set("orders", "", errNoTable)
		s.KeyMissing("orders", "pk")
		synctest.Wait()
		wantKey(t, s, "orders", "")
		d.wantCalls(t, "orders")
		time.Sleep(lastingLookupPause)
		wantKey(t, s, "orders", "")
		synctest.Wait()
		d.wantCalls(t)
		time.Sleep(time.Nanosecond)
		wantKey(t, s, "orders", "")
		synctest.Wait()
		d.wantCalls(t, "orders")
	})
}

// TestAKeyOutlivesALastingFailure checks that being refused to ask does not make
// a known key unknown, and is not repeated for a while.
func TestAKeyOutlivesALastingFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := startKnown(t)
		d.set("orders", "", errDenied)
		s.KeyMissing("orders", "pk")
		synctest.Wait()
		d.wantCalls(t, "orders")
		wantKey(t, s, "orders", "pk")
		time.Sleep(lastingLookupPause)
		s.KeyMissing("orders", "pk")
		synctest.Wait()
		d.wantCalls(t)
		time.Sleep(time.Nanosecond)
		s.KeyMissing("orders", "pk")
		synctest.Wait()
		d.wantCalls(t, "orders")
		wantKey(t, s, "orders", "pk")
	})
}

// TestAKeyOutlivesAPassingFailure checks that a known key is not given up
// because confirming it failed.
func TestAKeyOutlivesAPassingFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := startKnown(t)
		d.set("orders", "", errPassing)
		s.KeyMissing("orders", "pk")
		synctest.Wait()
		wantKey(t, s, "orders", "pk")
		s.KeyMissing("orders", "pk")
		synctest.Wait()
		d.wantCalls(t, "orders") // not again for 2 s
		d.set("orders", "id", nil)
		time.Sleep(2*time.Second + 1)
		s.KeyMissing("orders", "pk")
		synctest.Wait()
		wantKey(t, s, "orders", "id")
		d.wantCalls(t, "orders")
	})
}

func TestKeyMissingOfWhatIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := startKnown(t)
		s.KeyMissing("orders", "another attribute")
		s.KeyMissing("unknown", "pk")
		synctest.Wait()
		d.wantCalls(t)
	})
}

// TestLearningConfirms checks that a DescribeTable of the lookup itself, which
// passes through the client and teaches the cache while the lookup runs, counts
// like the lookup's own answer.
func TestLearningConfirms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := startKnown(t)
		d.takes = time.Second
		s.KeyMissing("orders", "pk")
		synctest.Wait()
		s.Learn("orders", "pk")
		time.Sleep(time.Second + 1)
		s.KeyMissing("orders", "pk")
		synctest.Wait()
		d.wantCalls(t, "orders") // it is left alone for 2 s from when it was learnt
		time.Sleep(time.Second)
		s.KeyMissing("orders", "pk")
		synctest.Wait()
		d.wantCalls(t, "orders")
	})
}
