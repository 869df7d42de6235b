package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/middleware"
	"github.com/aws/smithy-go/tracing"

	"github.com/keyroute/keyroute/discovery"
)

// instrumentationScope names the plugin's meter.
const instrumentationScope = "github.com/keyroute/keyroute/middleware"

// telemetry is the plugin's instruments of the SDK's own metrics and tracing.
// It is nil, and costs nothing, for a client that has neither.
type telemetry struct {
	requests  metrics.Int64Counter // nil if it is missing
	failovers metrics.Int64Counter // nil if it is missing
	observed  []metrics.AsyncInstrument
	traced    bool
	stopped   sync.Once // observed
}

// newTelemetry returns the instruments of a client's providers, or nil if it
// has none. The error is that of a provider that refused instruments; the others
// work.
func newTelemetry(p *Plugin, o *dynamodb.Options) (*telemetry, error) {
	metered, traced := records(o.MeterProvider), traces(o.TracerProvider)
	if !metered && !traced {
		return nil, nil
	}
	t := &telemetry{traced: traced}
	if !metered {
		return t, nil
	}
	return t, t.createInstruments(p, o.MeterProvider.Meter(instrumentationScope))
}

// records reports whether a provider is another than the SDK's, which does
// nothing.
func records(provider metrics.MeterProvider) bool {
	switch provider.(type) {
	case nil, metrics.NopMeterProvider, *metrics.NopMeterProvider:
		return false
	}
	return true
}

// traces does so for spans.
func traces(provider tracing.TracerProvider) bool {
	switch provider.(type) {
	case nil, tracing.NopTracerProvider, *tracing.NopTracerProvider:
		return false
	}
	return true
}

// createInstruments creates the instruments that the README lists.
func (t *telemetry) createInstruments(p *Plugin, meter metrics.Meter) error {
	var failures []error
	for _, i := range []struct {
		name, unit, description string
		counter                 *metrics.Int64Counter
	}{
		{"keyroute.requests", "{request}", "Calls that were routed, by keyroute.reason and rpc.method", &t.requests},
		{"keyroute.failovers", "{failover}", "Times that a call went on to another coordinator, by rpc.method", &t.failovers},
	} {
		counter, err := meter.Int64Counter(i.name, described(i.unit, i.description))
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", i.name, err))
			continue
		}
		*i.counter = counter
	}
	return errors.Join(append(failures, t.observe(p, meter))...)
}

// observe creates the instruments that are read from the plugin's own counts
// when metrics are collected.
func (t *telemetry) observe(p *Plugin, meter metrics.Meter) error {
	var failures []error
	for _, i := range []struct {
		name, unit, description string
		create                  func(string, metrics.Int64Callback, ...metrics.InstrumentOption) (metrics.AsyncInstrument, error)
		callback                metrics.Int64Callback
	}{
		{"keyroute.nodes", "{node}", "Live nodes, by keyroute.state", meter.Int64AsyncGauge, p.observeNodes},
		{"keyroute.refreshes", "{refresh}", "Refreshes of the live nodes, by keyroute.outcome", meter.Int64AsyncCounter, p.observeRefreshes},
		{"keyroute.schema.reads", "{read}", "Times that a partition key was wanted, by keyroute.outcome", meter.Int64AsyncCounter, p.observeReads},
		{"keyroute.schema.lookups", "{lookup}", "Tables that were looked up, by keyroute.outcome", meter.Int64AsyncCounter, p.observeLookups},
		{"keyroute.schema.evictions", "{eviction}", "Tables that made room for others", meter.Int64AsyncCounter, p.observeEvictions},
	} {
		instrument, err := i.create(i.name, i.callback, described(i.unit, i.description))
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", i.name, err))
			continue
		}
		t.observed = append(t.observed, instrument)
	}
	return errors.Join(failures...)
}

func described(unit, description string) metrics.InstrumentOption {
	return func(o *metrics.InstrumentOptions) { o.UnitLabel, o.Description = unit, description }
}

func with(key, value string) metrics.RecordMetricOption {
	return func(o *metrics.RecordMetricOptions) { o.Properties.Set(key, value) }
}

func (p *Plugin) observeNodes(ctx context.Context, o metrics.Int64Observer) {
	states := map[discovery.State]int64{discovery.Active: 0, discovery.Quarantined: 0, discovery.Down: 0}
	for _, node := range p.Nodes() {
		states[node.State]++
	}
	for state, n := range states {
		o.Observe(ctx, n, with("keyroute.state", state.String()))
	}
}

func (p *Plugin) observeRefreshes(ctx context.Context, o metrics.Int64Observer) {
	c := p.Stats().Refreshes
	observeOutcomes(ctx, o, "success", c.Refreshes-c.Failures, "failure", c.Failures)
}

func (p *Plugin) observeReads(ctx context.Context, o metrics.Int64Observer) {
	s := p.Stats()
	observeOutcomes(ctx, o, "hit", s.SchemaHits, "miss", s.SchemaMisses)
}

func (p *Plugin) observeLookups(ctx context.Context, o metrics.Int64Observer) {
	c := p.Stats().Schemas
	observeOutcomes(ctx, o, "success", c.Lookups-c.Failures, "failure", c.Failures)
}

func (p *Plugin) observeEvictions(ctx context.Context, o metrics.Int64Observer) {
	o.Observe(ctx, int64(p.Stats().Schemas.Evictions))
}

func observeOutcomes(ctx context.Context, o metrics.Int64Observer, good string, goodCount uint64, bad string, badCount uint64) {
	o.Observe(ctx, int64(goodCount), with("keyroute.outcome", good))
	o.Observe(ctx, int64(badCount), with("keyroute.outcome", bad))
}

// recordCall counts a call that is over.
func (t *telemetry) recordCall(ctx context.Context, r *request) {
	if t == nil || !r.planned {
		return
	}
	method := with("rpc.method", middleware.GetOperationName(ctx))
	if t.requests != nil {
		t.requests.Add(ctx, 1, method, with("keyroute.reason", r.reason.String()))
	}
	if moves := r.walk.moves(); moves > 0 && t.failovers != nil {
		t.failovers.Add(ctx, int64(moves), method)
	}
}

// recordTry puts a try's coordinator on the span of the SDK's attempt. If there
// are several in one attempt, the last one stays.
func (t *telemetry) recordTry(ctx context.Context, r *request, coordinator string) {
	if t == nil || !t.traced {
		return
	}
	if span, ok := tracing.GetSpan(ctx); ok {
		span.SetProperty("keyroute.coordinator", coordinator)
		span.SetProperty("keyroute.reason", r.reason.String())
		span.SetProperty("keyroute.attempt", r.attempts)
	}
}

// stop ends the instruments that are read when metrics are collected, once.
func (t *telemetry) stop() {
	if t == nil {
		return
	}
	t.stopped.Do(func() {
		for _, instrument := range t.observed {
			instrument.Stop()
		}
	})
}
