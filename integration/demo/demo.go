package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// A demo runs scenarios on a site.
type demo struct {
	site      *site
	input     *workload
	scenarios []scenario
	report    *report
	progress  *progress

	outcomes []*outcome // of the scenarios that ran to their end
}

// perform runs the scenarios one after the other and reports on each. The
// error says that one could not be run to its end, or what was wrong.
func (d *demo) perform(ctx context.Context) error {
	ring, err := d.site.nodes(ctx)
	if err != nil {
		return err
	}
	d.report.opening(d.site, d.input, ring)
	err = d.runAll(ctx, ring)
	if err = errors.Join(err, d.verdict(), d.site.cleanUp(ctx)); err != nil {
		return err
	}
	d.report.closing(d.input, d.outcomes)
	return nil
}

func (d *demo) runAll(ctx context.Context, ring *resolver.Ring) error {
	if err := d.site.createTables(ctx); err != nil {
		return err
	}
	for i, s := range d.scenarios {
		if i > 0 {
			if err := d.site.empty(ctx, tables); err != nil {
				return err
			}
		}
		o, err := d.run(ctx, s, ring)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		d.report.outcome(i+1, o)
		d.outcomes = append(d.outcomes, o)
	}
	return nil
}

// run sends the writes in the way of a scenario, and reads the items back.
func (d *demo) run(ctx context.Context, s scenario, ring *resolver.Ring) (_ *outcome, err error) {
	o := newOutcome(s)
	from := &sender{site: d.site, client: d.site.client(), ring: ring, outcome: o}
	var interruption *outage
	if !s.bare {
		var plugin *middleware.Plugin
		if from.client, plugin, err = d.site.attach(ctx, s.mode); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, closePlugin(plugin)) }()
		if from.ring, err = ringOf(plugin); err != nil {
			return nil, err
		}
		if s.outage {
			interruption, o.outage = planOutage(d.site.cluster, plugin, len(d.input.batches))
		}
	}
	if err := d.send(ctx, from, interruption); err != nil {
		return nil, err
	}
	o.countRequests(d.site, from.ring)
	if interruption != nil {
		o.outage = interruption.String()
	}
	return o, d.readBack(ctx, o)
}

// send sends the batches one after the other, which keeps the order of the
// writes of each item.
func (d *demo) send(ctx context.Context, from *sender, interruption *outage) (err error) {
	if d.site.cluster != nil {
		d.site.cluster.ResetCounts()
	}
	defer func() { err = errors.Join(err, interruption.end()) }()
	defer d.progress.clear()
	for i, batch := range d.input.batches {
		d.progress.show(from.outcome.name, i, len(d.input.batches))
		if err := interruption.before(ctx, i); err != nil {
			return err
		}
		from.send(ctx, batch)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// readBack compares what is in the tables with what should be there.
func (d *demo) readBack(ctx context.Context, o *outcome) error {
	got, err := d.site.contents(ctx, d.site.client())
	if err != nil {
		return err
	}
	o.items = len(got)
	o.differences = compare(got, d.input.expected)
	return nil
}

// verdict returns what was wrong with the outcomes.
func (d *demo) verdict() error {
	var errs []error
	for _, o := range d.outcomes {
		if o.failed > 0 {
			errs = append(errs, fmt.Errorf("%s: %d of %s failed, the first with: %w",
				o.name, o.failed, count(o.calls, "call"), o.firstFailure))
		}
		if o.differences.any() {
			errs = append(errs, fmt.Errorf("%s: %v", o.name, &o.differences))
		}
	}
	return errors.Join(errs...)
}
