package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// A sender sends batches and keeps count.
type sender struct {
	site    *site
	client  *dynamodb.Client
	ring    *resolver.Ring // what keys prefer nodes of
	outcome *outcome
	plan    resolver.Plan
}

// send sends a batch, and what is left of it, until nothing is left or a call
// fails.
func (s *sender) send(ctx context.Context, batch []write) {
	for try := 0; len(batch) > 0; try++ {
		if err := pause(ctx, try); err != nil {
			s.outcome.fail(err)
			return
		}
		out, err := s.client.BatchWriteItem(ctx, s.inputOf(batch))
		s.outcome.calls++
		if err != nil {
			s.outcome.fail(err)
			return
		}
		done, left, err := s.split(batch, out.UnprocessedItems)
		if err != nil {
			s.outcome.fail(err)
			return
		}
		s.account(done, out)
		batch = left
	}
}

func (s *sender) inputOf(batch []write) *dynamodb.BatchWriteItemInput {
	items := map[string][]types.WriteRequest{}
	for _, w := range batch {
		name := s.site.tableName(w.table)
		items[name] = append(items[name], w.request)
	}
	return &dynamodb.BatchWriteItemInput{RequestItems: items}
}

// split divides a batch into what was written and what was not.
func (s *sender) split(batch []write, unprocessed map[string][]types.WriteRequest) (done, left []write, err error) {
	open := map[string]bool{}
	for name, requests := range unprocessed {
		t := s.site.tableNamed(name)
		if t == nil {
			return nil, nil, fmt.Errorf("the cluster left a write of the table %q unprocessed, which was not sent", name)
		}
		for _, request := range requests {
			w := write{request: request}
			item, _, err := t.identify(w.attributes())
			if err != nil {
				return nil, nil, fmt.Errorf("the cluster left a write unprocessed that was not sent: %w", err)
			}
			open[item] = true
		}
	}
	for _, w := range batch {
		if open[w.item] {
			left = append(left, w)
		} else {
			done = append(done, w)
		}
	}
	return done, left, nil
}

// account takes note of where a call went, and of the writes that it wrote.
func (s *sender) account(done []write, out *dynamodb.BatchWriteItemOutput) {
	o := s.outcome
	coordinator := s.site.endpoint()
	if decision, ok := middleware.DecisionOf(out.ResultMetadata); ok {
		coordinator = decision.Coordinator
		if decision.Reason == middleware.ReasonVoted {
			o.voted++
		}
		switch {
		case len(decision.Tried) > 1:
			o.failovers++
		case decision.Coordinator != decision.Preferred:
			o.passedOver++
		}
	}
	o.answered[coordinator]++
	for _, w := range done {
		o.written++
		if s.preferredBy(w) == coordinator {
			o.met++
		}
	}
}

// preferredBy returns the canonical endpoint of the node that the key of a
// write prefers.
func (s *sender) preferredBy(w write) string {
	s.plan.PreferKey(s.ring, w.hash)
	return s.ring.Node(s.plan.At(0)).String()
}
