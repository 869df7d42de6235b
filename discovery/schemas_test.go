package discovery

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSchemasValidate(t *testing.T) {
	for _, c := range []struct {
		config SchemasConfig
		want   string
	}{
		{SchemasConfig{Size: -1}, "the size of the schema cache is negative"},
		{SchemasConfig{Timeout: -1}, "the timeout of schema lookups is negative"},
		{SchemasConfig{PartitionKeys: map[string]string{"": "pk"}}, `table "", attribute "pk"`},
		{SchemasConfig{PartitionKeys: map[string]string{"orders": ""}}, `table "orders", attribute ""`},
	} {
		s, err := NewSchemas(c.config)
		if s != nil || err == nil || !strings.HasPrefix(err.Error(), "keyroute: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q in it", err, c.want)
		}
	}
}

func TestATableIsLookedUpOnFirstUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		d.set("invoices", "customer", nil)
		s := newSchemas(t, SchemasConfig{})
		s.Start(d.describe)
		wantKey(t, s, "invoices", "")
		synctest.Wait()
		wantKey(t, s, "invoices", "customer")
		wantKey(t, s, "invoices", "customer")
		time.Sleep(24 * time.Hour)
		wantKey(t, s, "invoices", "customer")
		d.wantCalls(t, "invoices")
		if counters, err := s.Counters(); counters != (SchemaCounters{Lookups: 1, Size: 1}) || err != nil {
			t.Errorf("counters %+v, %v", counters, err)
		}
	})
}

func TestNothingIsLookedUpBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		s := newSchemas(t, SchemasConfig{PartitionKeys: map[string]string{"fixed": "id"}})
		s.KeyMissing("orders", "pk")
		s.Learn("learnt", "pk")
		s.KeyMissing("learnt", "pk")
		wantKey(t, s, "orders", "")
		wantKey(t, s, "fixed", "id")
		wantKey(t, s, "learnt", "pk")
		time.Sleep(time.Hour)
		s.Start(d.describe)
		synctest.Wait()
		d.wantCalls(t)
		wantKey(t, s, "orders", "") // the next use starts the lookup
		synctest.Wait()
		wantKey(t, s, "orders", "pk")
		d.wantCalls(t, "orders")
	})
}

func TestSomeTablesAreNeverLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		s := newSchemas(t, SchemasConfig{PartitionKeys: map[string]string{"fixed": "id"}})
		s.Start(d.describe)
		for range 3 {
			for _, table := range []string{"", ".scylla.alternator.system.clients", ".scylla.alternator.", "arn:aws:dynamodb:us-east-1:000000000000:table/"} {
				wantKey(t, s, table, "")
				s.KeyMissing(table, "pk")
			}
			wantKey(t, s, "fixed", "id")
			s.KeyMissing("fixed", "id")
			time.Sleep(time.Hour)
		}
		d.wantCalls(t)
		wantKey(t, s, ".scylla.alternator", "") // a name like any other
		synctest.Wait()
		d.wantCalls(t, ".scylla.alternator")
	})
}

func TestFixedKeysStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		keys := map[string]string{"fixed": "id", "arn:aws:dynamodb:us-east-1:000000000000:table/byarn": "a"}
		s := newSchemas(t, SchemasConfig{PartitionKeys: keys, Size: 1})
		keys["fixed"] = "changed by the caller"
		s.Start(d.describe)
		s.Learn("fixed", "other")
		s.Forget("fixed")
		s.KeyMissing("fixed", "id")
		for i := range 10 {
			s.PartitionKey(string(rune('a' + i)))
			synctest.Wait()
		}
		wantKey(t, s, "fixed", "id")
		wantKey(t, s, "byarn", "a")
		wantKey(t, s, "arn:aws:dynamodb:eu-west-1:1:table/fixed/index/x", "id")
		if counters, _ := s.Counters(); counters.Size != 1 || counters.Evictions != 9 || counters.Lookups != 10 {
			t.Errorf("counters %+v", counters)
		}
	})
}

// TestAnARNIsItsTable checks that both share one entry and one lookup.
func TestAnARNIsItsTable(t *testing.T) {
	const (
		table = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"
		index = table + "/index/by-date"
	)
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		d.takes = time.Second
		s := newSchemas(t, SchemasConfig{})
		s.Start(d.describe)
		for _, name := range []string{table, index, "orders"} {
			wantKey(t, s, name, "")
		}
		time.Sleep(time.Second + 1)
		d.wantCalls(t, "orders")
		for _, name := range []string{table, index, "orders"} {
			wantKey(t, s, name, "pk")
		}
		s.Learn(table, "id")
		wantKey(t, s, "orders", "id")
		s.KeyMissing(index, "id")
		time.Sleep(time.Second + 1)
		d.wantCalls(t, "orders")
		wantKey(t, s, "orders", "pk")
		s.Forget(table)
		wantKey(t, s, "orders", "")
	})
}

func TestLearn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		s := newSchemas(t, SchemasConfig{})
		s.Start(d.describe)
		s.Learn("orders", "id")
		s.Learn("", "id")
		s.Learn("nothing", "")
		wantKey(t, s, "orders", "id")
		s.Learn("orders", "id2")
		wantKey(t, s, "orders", "id2")
		synctest.Wait()
		d.wantCalls(t)
		if counters, _ := s.Counters(); counters != (SchemaCounters{Size: 1}) {
			t.Errorf("counters %+v", counters)
		}
	})
}

func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDescriber()
		s := newSchemas(t, SchemasConfig{})
		s.Start(d.describe)
		s.Forget("orders")
		s.Learn("orders", "id")
		s.Forget("orders")
		if counters, _ := s.Counters(); counters.Size != 0 {
			t.Errorf("counters %+v", counters)
		}
		wantKey(t, s, "orders", "")
		synctest.Wait()
		d.wantCalls(t, "orders")
		wantKey(t, s, "orders", "pk")
	})
}
