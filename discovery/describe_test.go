package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// A describer is a [Describe] whose tables have the partition key "pk", unless a
// test says otherwise.
type describer struct {
	mu      sync.Mutex
	tables  map[string]description
	takes   time.Duration // each call
	calls   []call
	running int
	most    int // that ran at a time
}

type description struct {
	key string
	err error
}

type call struct {
	table string
	at    time.Time
}

var (
	errPassing = errors.New("try again")
	errNoTable = fmt.Errorf("no orders: %w", ErrNoTable)
	errDenied  = fmt.Errorf("denied: %w", ErrLasting)
)

func newDescriber() *describer { return &describer{tables: map[string]description{}} }

func (d *describer) set(table, key string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tables[table] = description{key, err}
}

// describe is a Describe.
func (d *describer) describe(ctx context.Context, table string) (string, error) {
	d.mu.Lock()
	d.calls = append(d.calls, call{table, time.Now()})
	d.running++
	d.most = max(d.most, d.running)
	takes := d.takes
	d.mu.Unlock()
	ok := sleep(ctx, takes)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running--
	if !ok {
		return "", ctx.Err()
	}
	if described, ok := d.tables[table]; ok {
		return described.key, described.err
	}
	return "pk", nil
}

// taken returns the tables that were described since it was last called, in the
// order of the calls.
func (d *describer) taken() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var tables []string
	for _, c := range d.calls {
		tables = append(tables, c.table)
	}
	d.calls = nil
	return tables
}

// takenTimes returns when there were calls since it was last called.
func (d *describer) takenTimes(since time.Time) []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var at []time.Duration
	for _, c := range d.calls {
		at = append(at, c.at.Sub(since))
	}
	d.calls = nil
	return at
}

func (d *describer) wantCalls(t *testing.T, want ...string) {
	t.Helper()
	if got := d.taken(); !slices.Equal(got, want) {
		t.Errorf("described %q, want %q", got, want)
	}
}

// newSchemas returns a cache that is closed at the end of the test.
func newSchemas(t testing.TB, config SchemasConfig) *Schemas {
	t.Helper()
	s, err := NewSchemas(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// wantKey checks what is known of a table; "" for nothing.
func wantKey(t testing.TB, s *Schemas, table, want string) {
	t.Helper()
	if key, ok := s.PartitionKey(table); key != want || ok != (want != "") {
		t.Errorf("table %q has the partition key %q, %t, want %q", table, key, ok, want)
	}
}
