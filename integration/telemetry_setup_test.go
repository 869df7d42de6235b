package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"
)

// pluginScope is the scope of the plugin's own instruments.
const pluginScope = "github.com/keyroute/keyroute/middleware"

// A meterRecord is a provider of metrics that keeps what the plugin records.
// What the SDK itself records goes nowhere.
type meterRecord struct {
	mu       sync.Mutex
	refused  map[string]bool // instruments that cannot be created
	created  map[string]metrics.InstrumentOptions
	recorded map[string]int64 // by name and properties
	observed map[string]*observed
}

func newMeterRecord(refused ...string) *meterRecord {
	m := &meterRecord{
		refused:  map[string]bool{},
		created:  map[string]metrics.InstrumentOptions{},
		recorded: map[string]int64{},
		observed: map[string]*observed{},
	}
	for _, name := range refused {
		m.refused[name] = true
	}
	return m
}

// option makes it the provider of a client.
func (m *meterRecord) option(o *dynamodb.Options) { o.MeterProvider = m }

func (m *meterRecord) Meter(scope string, _ ...metrics.MeterOption) metrics.Meter {
	if scope != pluginScope {
		return metrics.NopMeter{}
	}
	return meter{record: m}
}

// meter has the kinds of instruments that the plugin is known to use.
type meter struct {
	metrics.NopMeter
	record *meterRecord
}

var errRefused = errors.New("refused")

func (m *meterRecord) create(name string, optFns []metrics.InstrumentOption) error {
	if m.refused[name] {
		return errRefused
	}
	var o metrics.InstrumentOptions
	for _, fn := range optFns {
		fn(&o)
	}
	m.created[name] = o
	return nil
}

func (m meter) Int64Counter(name string, optFns ...metrics.InstrumentOption) (metrics.Int64Counter, error) {
	m.record.mu.Lock()
	defer m.record.mu.Unlock()
	if err := m.record.create(name, optFns); err != nil {
		return nil, err
	}
	return counter{m.record, name}, nil
}

func (m meter) Int64AsyncCounter(name string, callback metrics.Int64Callback, optFns ...metrics.InstrumentOption) (metrics.AsyncInstrument, error) {
	m.record.mu.Lock()
	defer m.record.mu.Unlock()
	if err := m.record.create(name, optFns); err != nil {
		return nil, err
	}
	o := &observed{record: m.record, name: name, callback: callback}
	m.record.observed[name] = o
	return o, nil
}

func (m meter) Int64AsyncGauge(name string, callback metrics.Int64Callback, optFns ...metrics.InstrumentOption) (metrics.AsyncInstrument, error) {
	return m.Int64AsyncCounter(name, callback, optFns...)
}

// counter is an instrument that is added to.
type counter struct {
	record *meterRecord
	name   string
}

func (c counter) Add(_ context.Context, n int64, optFns ...metrics.RecordMetricOption) {
	c.record.mu.Lock()
	defer c.record.mu.Unlock()
	c.record.recorded[series(c.name, optFns)] += n
}

// observed is an instrument that is read when metrics are collected.
type observed struct {
	record   *meterRecord
	name     string
	callback metrics.Int64Callback
	stops    int // guarded by record.mu
}

func (o *observed) Stop() {
	o.record.mu.Lock()
	defer o.record.mu.Unlock()
	o.stops++
}

func (o *observed) Observe(_ context.Context, n int64, optFns ...metrics.RecordMetricOption) {
	o.record.mu.Lock()
	defer o.record.mu.Unlock()
	o.record.recorded[series(o.name, optFns)] = n
}

// series names an instrument with the properties of a recording.
func series(name string, optFns []metrics.RecordMetricOption) string {
	var o metrics.RecordMetricOptions
	for _, fn := range optFns {
		fn(&o)
	}
	return strings.Join(append([]string{name}, propertyList(&o.Properties)...), " ")
}

func propertyList(p *smithy.Properties) []string {
	var list []string
	for key, value := range p.Values() {
		list = append(list, fmt.Sprintf("%v=%v", key, value))
	}
	slices.Sort(list)
	return list
}

// collect reads all instruments and returns what was recorded so far.
func (m *meterRecord) collect() map[string]int64 {
	m.mu.Lock()
	instruments := slices.Collect(maps.Values(m.observed))
	m.mu.Unlock()
	for _, o := range instruments {
		o.callback(context.Background(), o)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.recorded)
}

// stops returns how often each observed instrument was stopped.
func (m *meterRecord) stops() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	stops := map[string]int{}
	for name, o := range m.observed {
		stops[name] = o.stops
	}
	return stops
}

// A spanRecord is a provider of traces that keeps the spans.
type spanRecord struct{ spans list[*span] }

// option makes it the provider of a client.
func (s *spanRecord) option(o *dynamodb.Options) { o.TracerProvider = s }

func (s *spanRecord) Tracer(string, ...tracing.TracerOption) tracing.Tracer { return s }

func (s *spanRecord) StartSpan(ctx context.Context, name string, _ ...tracing.SpanOption) (context.Context, tracing.Span) {
	started := &span{name: name}
	s.spans.add(started)
	return tracing.WithSpan(ctx, started), started
}

// attempts takes the spans and returns what the plugin put on those of attempts.
// It must have put nothing on others.
func (s *spanRecord) attempts() (attempts []string, others []string) {
	for _, span := range s.spans.take() {
		if list := span.ofPlugin(); span.name == "Attempt" {
			attempts = append(attempts, strings.Join(list, " "))
		} else if len(list) > 0 {
			others = append(others, span.name+": "+strings.Join(list, " "))
		}
	}
	return attempts, others
}

// span keeps its properties.
type span struct {
	name string

	mu         sync.Mutex
	properties smithy.Properties
}

func (s *span) Name() string                            { return s.name }
func (s *span) Context() tracing.SpanContext            { return tracing.SpanContext{} }
func (s *span) AddEvent(string, ...tracing.EventOption) {}
func (s *span) SetStatus(tracing.SpanStatus)            {}
func (s *span) End()                                    {}

func (s *span) SetProperty(k, v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.properties.Set(k, v)
}

// ofPlugin returns the properties that the plugin has set.
func (s *span) ofPlugin() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(propertyList(&s.properties), func(p string) bool { return !strings.HasPrefix(p, "keyroute.") })
}
