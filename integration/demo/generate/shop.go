package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

const (
	minWrites = 5400
	customers = 320
	shops     = 60
	kept      = 1600 // events in the table before the oldest ones expire
)

// opening is when the first order is placed.
var opening = time.Date(2026, time.January, 5, 8, 0, 0, 0, time.UTC)

// statuses are what an order goes through until its customer has it; then it
// is deleted.
var statuses = []string{"placed", "paid", "packed", "shipped"}

// shop makes the writes. The table orders holds the open order of each
// customer, which is written whenever its status changes; the table events
// holds what happened in each shop, one item per event.
type shop struct {
	output    *json.Encoder
	writes    int
	draw      *rand.PCG
	customers *skewed
	shops     *skewed
	now       time.Time
	orders    int              // placed so far
	open      [customers]order // by customer
	events    []event          // that have not expired, the oldest first
}

type order struct {
	number int
	status int // index of statuses
	shop   int // 0: there is no order
	cents  uint64
	lines  []any
}

type event struct {
	shop int
	at   time.Time
}

// A fixed seed makes the same writes every time. The sequence of PCG is part of
// its definition, unlike what math/rand/v2 makes of it.
func newShop(w io.Writer) *shop {
	return &shop{
		output:    json.NewEncoder(w),
		draw:      rand.NewPCG(20260105, 8),
		customers: newSkewed(customers, 3),
		shops:     newSkewed(shops, 2),
		now:       opening,
	}
}

// step has one customer's order go on by one status, or placed.
func (s *shop) step() error {
	s.now = s.now.Add(time.Duration(200+s.draw.Uint64()%8000) * time.Millisecond)
	customer := s.customers.pick(s.draw)
	o := &s.open[customer]
	if o.shop == 0 {
		s.place(o)
	} else {
		o.status++
	}
	if err := s.writeOrder(customer, o); err != nil {
		return err
	}
	if err := s.writeEvent(o); err != nil {
		return err
	}
	if o.status == len(statuses) {
		*o = order{}
	}
	if len(s.events) > kept {
		oldest := s.events[0]
		s.events = s.events[1:]
		return s.delete("events", oldest.key())
	}
	return nil
}

func (s *shop) place(o *order) {
	s.orders++
	*o = order{number: s.orders, shop: 1 + s.shops.pick(s.draw)}
	for range 1 + s.draw.Uint64()%2 {
		quantity := 1 + s.draw.Uint64()%3
		o.cents += quantity * (490 + 10*(s.draw.Uint64()%400))
		o.lines = append(o.lines, map[string]any{"M": map[string]any{
			"sku":      text("sku-%03d", s.draw.Uint64()%500),
			"quantity": number("%d", quantity),
		}})
	}
}

func (s *shop) writeOrder(customer int, o *order) error {
	item := map[string]any{"customer": text("customer-%03d", customer+1)}
	if o.status == len(statuses) {
		return s.delete("orders", item)
	}
	item["order"] = number("%d", o.number)
	item["status"] = text("%s", statuses[o.status])
	item["total"] = number("%d.%02d", o.cents/100, o.cents%100)
	item["lines"] = map[string]any{"L": o.lines}
	if o.number%7 == 0 {
		item["gift"] = map[string]any{"BOOL": true}
	}
	return s.put("orders", item)
}

func (s *shop) writeEvent(o *order) error {
	what := "delivered"
	if o.status < len(statuses) {
		what = statuses[o.status]
	}
	e := event{shop: o.shop, at: s.now}
	s.events = append(s.events, e)
	item := e.key()
	item["order"] = number("%d", o.number)
	item["what"] = text("%s", what)
	return s.put("events", item)
}

func (e event) key() map[string]any {
	return map[string]any{
		"shop": number("%d", e.shop),
		"at":   text("%s", e.at.Format("2006-01-02T15:04:05.000Z")),
	}
}

// line is one write, as the demo reads it.
type line struct {
	Table         string         `json:"table"`
	PutRequest    map[string]any `json:",omitempty"`
	DeleteRequest map[string]any `json:",omitempty"`
}

func (s *shop) put(table string, item map[string]any) error {
	return s.write(line{Table: table, PutRequest: map[string]any{"Item": item}})
}

func (s *shop) delete(table string, key map[string]any) error {
	return s.write(line{Table: table, DeleteRequest: map[string]any{"Key": key}})
}

func (s *shop) write(l line) error {
	s.writes++
	return s.output.Encode(l)
}

func text(format string, args ...any) map[string]any {
	return map[string]any{"S": fmt.Sprintf(format, args...)}
}

func number(format string, args ...any) map[string]any {
	return map[string]any{"N": fmt.Sprintf(format, args...)}
}
