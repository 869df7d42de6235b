package discovery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSchemasCloseCancelsLookups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		d.takes = time.Hour
		s := newSchemas(t, SchemasConfig{Timeout: time.Hour})
		s.Start(d.describe)
		s.Learn("known", "pk")
		for i := range 100 {
			s.PartitionKey(fmt.Sprint("table", i))
		}
		synctest.Wait()
		start := time.Now()
		var calls sync.WaitGroup
		for range 5 {
			calls.Go(func() {
				if err := s.Close(t.Context()); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
		}
		calls.Wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("Close took %v", took)
		}
		if calls := d.taken(); len(calls) != maxLookups {
			t.Errorf("%d lookups, want the %d that ran", len(calls), maxLookups)
		}
		counters, err := s.Counters()
		if counters != (SchemaCounters{Size: 1}) || err != nil {
			t.Errorf("counters %+v, %v: what was cut short is no failure", counters, err)
		}

		s.Start(d.describe)
		wantKey(t, s, "known", "pk")
		wantKey(t, s, "table0", "")
		wantKey(t, s, "another", "")
		s.KeyMissing("known", "pk")
		s.Learn("learnt", "pk")
		wantKey(t, s, "learnt", "pk")
		time.Sleep(time.Hour)
		d.wantCalls(t)
	})
}

// TestSchemasCloseDoesNotWaitForever checks that Close returns when its context
// is done although a lookup ignores its own, and that it can be called again.
func TestSchemasCloseDoesNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		s := newSchemas(t, SchemasConfig{})
		s.Start(func(context.Context, string) (string, error) {
			<-released
			return "pk", nil
		})
		s.PartitionKey("orders")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range 2 {
			if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Close: error %v", err)
			}
		}
		close(released)
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("Close at last: %v", err)
		}
		wantKey(t, s, "orders", "") // the answer came too late
	})
}

// TestSchemasCloseUnderTraffic is for the race detector.
func TestSchemasCloseUnderTraffic(t *testing.T) {
	for range 20 {
		d := newDescriber()
		s := newSchemas(t, SchemasConfig{Size: 50})
		var calls sync.WaitGroup
		for g := range 4 {
			calls.Go(func() {
				for i := range 200 {
					s.PartitionKey(fmt.Sprint("table", g*100+i))
				}
			})
			calls.Go(func() { s.Start(d.describe) })
		}
		calls.Go(func() {
			if err := s.Close(context.Background()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		calls.Wait()
	}
}
