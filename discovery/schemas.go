package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go/logging"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/keyroute/keyroute/resolver"
)

// Describe returns the name of a table's partition-key attribute, by asking the
// cluster. It is called in the background, for a few tables at a time, with a
// deadline. An error that wraps [ErrLasting] is not asked about again for a
// while.
type Describe func(ctx context.Context, table string) (partitionKey string, err error)

// ErrLasting marks the error of a [Describe] that asking again soon will not
// mend: the table does not exist, or describing it is not allowed.
var ErrLasting = errors.New("keyroute: not to be asked again soon")

// ErrNoTable marks a lasting error that tells that the table is not there, or
// has no partition key: what was known of it does not hold any more.
var ErrNoTable = fmt.Errorf("%w: no such table", ErrLasting)

// SchemasConfig is what [NewSchemas] needs. Zero values are replaced by their
// defaults.
type SchemasConfig struct {
	// PartitionKeys are tables whose partition key is known beforehand. They
	// are never looked up and never evicted. The map is copied.
	PartitionKeys map[string]string
	// Size is how many other tables are remembered. Default 1,024.
	Size int
	// Timeout is how long one lookup may take. Default 10 s.
	Timeout time.Duration
	// Logger is told what a person must act on. Default: nothing is logged.
	Logger logging.Logger
}

const (
	defaultSchemas       = 1024
	defaultLookupTimeout = 10 * time.Second

	// maxLookups is how many tables are looked up at a time.
	maxLookups = 4

	// How long a table is left alone after a lookup failed: for a passing
	// reason, twice as long with each failure; for a lasting one.
	minLookupPause     = 2 * time.Second
	maxLookupPause     = time.Minute
	lastingLookupPause = 5 * time.Minute
)

// systemTables begin with this. They are read-only and cannot be described.
// Source: Alternator's documentation of its system tables.
const systemTables = ".scylla.alternator."

// Schemas remembers the partition keys of tables and looks up what it does not
// know. It is safe for concurrent use.
//
// Reading takes no lock. Entries are published as a whole map, which is copied
// when one is added. Which entry goes when the map is full is for an LRU list
// to say; a reader moves its entry to the front of that list only if something
// was added since it last did so, because only an addition can evict. So a
// program with a settled set of tables never touches the list, however many
// goroutines it reads with.
type Schemas struct {
	config SchemasConfig
	fixed  map[string]string

	warnings *warner

	entries   atomic.Pointer[map[string]*schema]
	additions atomic.Uint64
	describe  atomic.Pointer[Describe]

	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	recent   *simplelru.LRU[string, *schema]
	lookups  map[string]*lookup // those that wait or run, by table
	waiting  []*lookup
	workers  int
	counters SchemaCounters
	lastErr  error
}

// schema is what is known of one table: Ready with its partition key, or
// NotReady with the reason and the time until which it is left alone. It is
// immutable but for the mark of the reader.
type schema struct {
	partitionKey string
	reason       error         // of NotReady
	leftUntil    time.Time     // no lookup before; of NotReady, or of a Ready one that was just confirmed
	pause        time.Duration // that led to leftUntil

	readAt atomic.Uint64 // the number of additions when it was last moved to the front
}

func (s *schema) ready() bool { return s.reason == nil }

// NewSchemas returns a cache that knows the fixed keys only.
func NewSchemas(config SchemasConfig) (*Schemas, error) {
	switch {
	case config.Size < 0:
		return nil, errors.New("keyroute: the size of the schema cache is negative")
	case config.Timeout < 0:
		return nil, errors.New("keyroute: the timeout of schema lookups is negative")
	}
	for table, key := range config.PartitionKeys {
		if table == "" || key == "" {
			return nil, errors.New("keyroute: a fixed partition key lacks the name of the table or of the attribute: " +
				"table \"" + table + "\", attribute \"" + key + "\"")
		}
	}
	if config.Size == 0 {
		config.Size = defaultSchemas
	}
	if config.Timeout == 0 {
		config.Timeout = defaultLookupTimeout
	}
	s := &Schemas{
		config:   config,
		fixed:    map[string]string{},
		warnings: newWarner(config.Logger),
		lookups:  map[string]*lookup{},
	}
	for table, key := range config.PartitionKeys {
		s.fixed[resolver.TableName(table)] = key
	}
	s.recent, _ = simplelru.NewLRU[string, *schema](config.Size, nil) // the size is positive
	s.entries.Store(&map[string]*schema{})
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// PartitionKey returns the name of a table's partition-key attribute. If it is
// not known, a lookup begins in the background unless one is under way or the
// table is to be left alone. The table may be given as an ARN. It never blocks.
func (s *Schemas) PartitionKey(table string) (string, bool) {
	table = resolver.TableName(table)
	if key, ok := s.fixed[table]; ok {
		return key, true
	}
	entry := (*s.entries.Load())[table]
	if entry == nil {
		s.lookUp(table, nil)
		return "", false
	}
	if added := s.additions.Load(); entry.readAt.Load() != added {
		s.touch(table, entry, added)
	}
	if !entry.ready() {
		if time.Now().After(entry.leftUntil) {
			s.lookUp(table, entry)
		}
		return "", false
	}
	return entry.partitionKey, true
}

// touch moves an entry to the front of the list of recent ones.
func (s *Schemas) touch(table string, entry *schema, added uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.Get(table)
	entry.readAt.Store(added)
}

// KeyMissing tells that a write to a table does not have the attribute that is
// its partition key as far as is known. The table may have been made anew with
// another key, so it is looked up again; if it turns out to be as it was, the
// write is at fault, and further ones are believed ever less often.
func (s *Schemas) KeyMissing(table, attribute string) {
	table = resolver.TableName(table)
	if _, ok := s.fixed[table]; ok {
		return
	}
	entry := (*s.entries.Load())[table]
	if entry != nil && entry.ready() && entry.partitionKey == attribute && time.Now().After(entry.leftUntil) {
		s.lookUp(table, entry)
	}
}

// Learn takes note of a table's partition key, as somebody read it from the
// cluster.
func (s *Schemas) Learn(table, partitionKey string) {
	table = resolver.TableName(table)
	if _, ok := s.fixed[table]; ok || table == "" || partitionKey == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outdateLocked(table)
	s.storeLocked(table, next((*s.entries.Load())[table], partitionKey, nil))
}

// Forget drops what is known of a table, because it was deleted or may have
// become another. A lookup that runs does not count.
func (s *Schemas) Forget(table string) {
	table = resolver.TableName(table)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outdateLocked(table)
	if s.recent.Remove(table) {
		entries := maps.Clone(*s.entries.Load())
		delete(entries, table)
		s.entries.Store(&entries)
	}
}

// storeLocked publishes an entry in place of the table's former one.
func (s *Schemas) storeLocked(table string, entry *schema) {
	entries := maps.Clone(*s.entries.Load())
	if _, ok := entries[table]; !ok {
		if s.recent.Len() >= s.config.Size {
			if oldest, _, ok := s.recent.RemoveOldest(); ok {
				delete(entries, oldest)
				s.counters.Evictions++
			}
		}
		s.additions.Add(1)
	}
	entry.readAt.Store(s.additions.Load())
	s.recent.Add(table, entry)
	entries[table] = entry
	s.entries.Store(&entries)
}

// Close stops all lookups and waits until they have stopped or ctx is done, in
// which case it returns its error. It may be called any number of times. What
// is known stays readable.
func (s *Schemas) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	return wait(ctx, &s.running)
}

// SchemaCounters count what the cache did since the start.
type SchemaCounters struct {
	// Lookups is how many tables were described, Failures how many of those
	// gave no key, Evictions how many tables made room for others.
	Lookups, Failures, Evictions uint64
	// Size is how many tables are remembered now, the fixed ones not counted.
	Size int
}

// Counters returns what the cache did so far, and the error of the last lookup
// that failed, if any did.
func (s *Schemas) Counters() (SchemaCounters, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	counters := s.counters
	counters.Size = s.recent.Len()
	return counters, s.lastErr
}
