package resolver_test

import (
	"maps"
	"slices"
)

// A schema is the partition keys by table, and records what is asked about them
// and told.
type schema struct {
	keys    map[string]string
	asked   map[string]int      // calls of PartitionKey by table
	missing map[string][]string // attributes of the calls of KeyMissing by table
}

func newSchema(keys map[string]string) *schema {
	return &schema{keys: keys, asked: map[string]int{}, missing: map[string][]string{}}
}

func (s *schema) PartitionKey(table string) (string, bool) {
	s.asked[table]++
	key, ok := s.keys[table]
	return key, ok
}

func (s *schema) KeyMissing(table, attribute string) {
	s.missing[table] = append(s.missing[table], attribute)
}

// unknown returns the tables that were asked for and are not known, sorted.
func (s *schema) unknown() []string {
	var tables []string
	for _, table := range slices.Sorted(maps.Keys(s.asked)) {
		if _, ok := s.keys[table]; !ok {
			tables = append(tables, table)
		}
	}
	return tables
}

// A fixedKey is a schema in which every table has the same partition key. It
// can be shared.
type fixedKey string

func (k fixedKey) PartitionKey(string) (string, bool) { return string(k), true }

func (k fixedKey) KeyMissing(string, string) {}
