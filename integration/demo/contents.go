package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// contents are the items of all tables, by what identifies them.
type contents map[string]attributes

// contentsAfter returns what writes amount to: of each item the last write
// counts.
func contentsAfter(writes []write) contents {
	c := contents{}
	for _, w := range writes {
		if w.request.PutRequest != nil {
			c[w.item] = w.request.PutRequest.Item
		} else {
			delete(c, w.item)
		}
	}
	return c
}

// contents reads what is in the tables.
func (s *site) contents(ctx context.Context, client *dynamodb.Client) (contents, error) {
	c := contents{}
	for _, t := range tables {
		items, err := s.scan(ctx, client, t, 0)
		if err != nil {
			return nil, err
		}
		for _, a := range items {
			item, _, err := t.identify(a)
			if err != nil {
				return nil, fmt.Errorf("reading the table %s: an item without the key %w", s.tableName(t), err)
			}
			c[item] = a
		}
	}
	return c, nil
}

// differences are how the contents of the tables differ from what they should
// be, item by item.
type differences struct {
	lost    []string // not there
	stale   []string // there, but not as they were written last
	revived []string // there although they were deleted, or never written
}

func compare(got, want contents) differences {
	var d differences
	for _, item := range slices.Sorted(maps.Keys(want)) {
		switch a, ok := got[item]; {
		case !ok:
			d.lost = append(d.lost, item)
		case !sameAttributes(a, want[item]):
			d.stale = append(d.stale, item)
		}
	}
	for _, item := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[item]; !ok {
			d.revived = append(d.revived, item)
		}
	}
	return d
}

func (d *differences) any() bool { return len(d.lost)+len(d.stale)+len(d.revived) > 0 }

// String tells how many items differ in which way, with an example of each.
func (d *differences) String() string {
	var parts []string
	for _, kind := range []struct {
		items []string
		what  string
	}{
		{d.lost, "lost"},
		{d.stale, "not as last written"},
		{d.revived, "there although deleted"},
	} {
		if len(kind.items) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", count(len(kind.items), "item"), kind.what, examples(kind.items)))
		}
	}
	return strings.Join(parts, ", ")
}

func examples(items []string) string {
	if len(items) == 1 {
		return items[0]
	}
	return "one is " + items[0]
}
