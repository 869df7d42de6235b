package discovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A lookup is one table that is, or will be, described in the background.
type lookup struct {
	table    string
	outdated bool // the table became another in the meantime: the answer does not count
}

// Start gives the cache its way to ask the cluster. Until then nothing is
// looked up.
func (s *Schemas) Start(describe Describe) { s.describe.Store(&describe) }

// lookUp has a table looked up whose entry, as the caller saw it, calls for
// that, unless a lookup is under way or over in the meantime, or the table
// cannot have a key. It does not wait.
func (s *Schemas) lookUp(table string, seen *schema) {
	if table == "" || strings.HasPrefix(table, systemTables) || s.describe.Load() == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.lookups[table] != nil || (*s.entries.Load())[table] != seen || len(s.waiting) >= s.config.Size {
		return
	}
	l := &lookup{table: table}
	s.lookups[table] = l
	s.waiting = append(s.waiting, l)
	if s.workers < maxLookups {
		s.workers++
		s.running.Go(s.work)
	}
}

// work looks up tables until none waits.
func (s *Schemas) work() {
	for {
		s.mu.Lock()
		if s.closed || len(s.waiting) == 0 {
			s.workers--
			s.mu.Unlock()
			return
		}
		next := s.waiting[0]
		s.waiting = s.waiting[1:]
		next.outdated = false // it only begins now
		s.mu.Unlock()

		ctx, cancel := context.WithTimeout(s.ctx, s.config.Timeout)
		partitionKey, err := (*s.describe.Load())(ctx, next.table)
		cancel()
		s.finish(next, partitionKey, err)
	}
}

// outdateLocked makes the answer of a lookup that runs not count.
func (s *Schemas) outdateLocked(table string) {
	if l := s.lookups[table]; l != nil {
		l.outdated = true
	}
}

// finish takes the answer of a lookup into account.
func (s *Schemas) finish(l *lookup, partitionKey string, err error) {
	if err == nil && partitionKey == "" {
		err = fmt.Errorf("the table has no partition key: %w", ErrNoTable)
	}
	if s.accept(l, partitionKey, err) && errors.Is(err, ErrLasting) {
		s.warnings.warn("table "+l.table, "writes to table %s are routed without affinity, its partition key cannot be learnt: %v", l.table, err)
	}
}

// accept records the answer of a lookup and reports whether it counts.
func (s *Schemas) accept(l *lookup, partitionKey string, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lookups, l.table)
	if s.closed {
		return false
	}
	s.counters.Lookups++
	if err != nil {
		s.counters.Failures++
		s.lastErr = fmt.Errorf("table %s: %w", l.table, err)
	}
	if l.outdated {
		return false
	}
	s.storeLocked(l.table, next((*s.entries.Load())[l.table], partitionKey, err))
	return true
}

// next returns the entry that follows another, if there was one, after a
// lookup. A failure does not make a key that was known unknown: it was looked
// up again on suspicion only, unless the table is gone.
func next(former *schema, partitionKey string, err error) *schema {
	now := time.Now()
	switch {
	case err != nil:
		pause := longer(former)
		if errors.Is(err, ErrLasting) {
			pause = lastingLookupPause
		}
		entry := &schema{reason: err, pause: pause, leftUntil: now.Add(pause)}
		if former != nil && former.ready() && !errors.Is(err, ErrNoTable) {
			entry.partitionKey, entry.reason = former.partitionKey, nil
		}
		return entry
	case former != nil && former.ready() && former.partitionKey == partitionKey:
		pause := longer(former)
		return &schema{partitionKey: partitionKey, pause: pause, leftUntil: now.Add(pause)}
	}
	return &schema{partitionKey: partitionKey}
}

// longer returns the pause that follows that of an entry.
func longer(former *schema) time.Duration {
	if former == nil {
		return minLookupPause
	}
	return min(max(2*former.pause, minLookupPause), maxLookupPause)
}
