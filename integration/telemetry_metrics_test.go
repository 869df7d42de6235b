package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// instruments are those of the plugin, with their units.
var instruments = map[string]string{
	"keyroute.requests":         "{request}",
	"keyroute.failovers":        "{failover}",
	"keyroute.nodes":            "{node}",
	"keyroute.refreshes":        "{refresh}",
	"keyroute.schema.reads":     "{read}",
	"keyroute.schema.lookups":   "{lookup}",
	"keyroute.schema.evictions": "{eviction}",
}

func TestMetricsOfAScriptedRun(t *testing.T) {
	t.Parallel()
	meters := newMeterRecord()
	s := newScript(t, meters.option)
	s.run()

	for name, unit := range instruments {
		if o, ok := meters.created[name]; !ok || o.UnitLabel != unit || o.Description == "" {
			t.Errorf("the instrument %s was created: %v, with %+v, want the unit %s and a description", name, ok, o, unit)
		}
	}
	want := map[string]int64{
		"keyroute.failovers rpc.method=BatchWriteItem":     scriptedFailovers,
		"keyroute.nodes keyroute.state=active":             2,
		"keyroute.nodes keyroute.state=quarantined":        0,
		"keyroute.nodes keyroute.state=down":               1,
		"keyroute.refreshes keyroute.outcome=failure":      scriptedRefreshFailures,
		"keyroute.schema.reads keyroute.outcome=hit":       scriptedHits,
		"keyroute.schema.reads keyroute.outcome=miss":      scriptedMisses,
		"keyroute.schema.lookups keyroute.outcome=failure": scriptedLookupFailures,
		"keyroute.schema.lookups keyroute.outcome=success": scriptedLookups - scriptedLookupFailures,
		"keyroute.schema.evictions":                        scriptedEvictions,
	}
	for reason, operations := range scripted {
		for operation, n := range operations {
			want[fmt.Sprintf("keyroute.requests keyroute.reason=%v rpc.method=%s", reason, operation)] = int64(n)
		}
	}
	// The list is refreshed in the background, too.
	const refreshes = "keyroute.refreshes keyroute.outcome=success"
	eventually(t, "as many refreshes are recorded as are counted", func() bool {
		r := s.plugin.Stats().Refreshes
		return meters.collect()[refreshes] == int64(r.Refreshes-r.Failures)
	})
	got := meters.collect()
	delete(got, refreshes)
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if n, ok := want[key]; !ok || n != got[key] {
			t.Errorf("%s is %d, want %d", key, got[key], n)
		}
		delete(want, key)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		t.Errorf("%s is missing, want %d", key, want[key])
	}
}

func TestInstrumentsEndWithThePlugin(t *testing.T) {
	t.Parallel()
	meters := newMeterRecord()
	s := newScene(t, 1)
	client := dynamodb.New(s.ClientOptions(), meters.option, s.plugin.Attach)
	in := s.writeTo(0)
	send(t, client, in)
	for name, n := range meters.stops() {
		if n != 0 {
			t.Errorf("%s was stopped before the plugin was closed", name)
		}
	}
	for range 2 {
		closePlugin(t, s.plugin)
	}
	stops := meters.stops()
	if len(stops) != len(instruments)-2 {
		t.Errorf("%d instruments are observed, want all but two", len(stops))
	}
	for name, n := range stops {
		if n != 1 {
			t.Errorf("%s was stopped %d times, want once", name, n)
		}
	}
	send(t, client, in) // what is added to still works
	const key = "keyroute.requests keyroute.reason=voted rpc.method=BatchWriteItem"
	if got := meters.collect()[key]; got != 2 {
		t.Errorf("%s is %d, want 2", key, got)
	}
}

// A provider that cannot create an instrument costs that one.
func TestInstrumentsThatCannotBeCreated(t *testing.T) {
	t.Parallel()
	for missing := range instruments {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			c := cluster.New(t, nodes(2))
			createTable(t, c, "orders", "pk", "S")
			meters, log := newMeterRecord(missing), &logbook{}
			p := newPlugin(t, c, quiet, mode(middleware.AnyWrite), keys("orders", "pk"), log.option)
			client := attach(t, c, p, meters.option)
			c.Node(1).Refuse()
			v := newVoter(t, c)
			for node := range 2 {
				send(t, client, batch(writes{"orders": v.puts(node)}))
			}
			got := map[string]bool{}
			for key := range meters.collect() {
				got[strings.Fields(key)[0]] = true
			}
			for name := range instruments {
				if got[name] != (name != missing) {
					t.Errorf("%s was recorded: %v", name, got[name])
				}
			}
			log.wantLines(t, "some metrics are missing: "+missing+": "+errRefused.Error())
		})
	}
}

// The SDK's own providers are silent. A span of the caller's, which then is the
// only one there is, is not the plugin's to write on.
func TestNothingIsRecordedWithoutProviders(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(2))
	createTable(t, c, "orders", "pk", "S")
	in := batch(writes{"orders": newVoter(t, c).puts(1)})
	for name, test := range map[string]struct {
		meters metrics.MeterProvider
		spans  tracing.TracerProvider
	}{
		"none":     {nil, nil},
		"values":   {metrics.NopMeterProvider{}, tracing.NopTracerProvider{}},
		"pointers": {&metrics.NopMeterProvider{}, &tracing.NopTracerProvider{}},
		"metrics":  {newMeterRecord(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
			client := attach(t, c, p, func(o *dynamodb.Options) {
				if test.meters != nil {
					o.MeterProvider = test.meters
				}
				if test.spans != nil {
					o.TracerProvider = test.spans
				}
			})
			callers := &span{name: "the caller's"}
			ctx := tracing.WithSpan(deadline(t), callers)
			if _, err := client.BatchWriteItem(ctx, in); err != nil {
				t.Fatal(err)
			}
			if list := callers.ofPlugin(); len(list) > 0 {
				t.Errorf("the span of the caller has %v", list)
			}
			if got := p.Stats().Requests[middleware.ReasonVoted]; got != 1 {
				t.Errorf("%d requests were counted, want 1", got)
			}
			if meters, ok := test.meters.(*meterRecord); ok && len(meters.collect()) == 0 {
				t.Error("no metrics were recorded, though there is a provider")
			}
		})
	}
}

// Metrics are collected from any goroutine, at any time.
func TestMetricsAreCollectedWhileRequestsFlow(t *testing.T) {
	t.Parallel()
	meters := newMeterRecord()
	s := newSceneOf(t, cluster.New(t, nodes(3)), meters.option)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for ctx.Err() == nil {
			meters.collect()
		}
	}()
	underLoad(t, s.client, func() {
		moreWrites(t, s.Cluster, 50)
		closePlugin(t, s.plugin)
		moreWrites(t, s.Cluster, 50)
	})
	cancel()
	<-collected
	if got, want := meters.collect()["keyroute.requests keyroute.reason=voted rpc.method=BatchWriteItem"],
		int64(s.plugin.Stats().Requests[middleware.ReasonVoted]); got != want {
		t.Errorf("%d requests were recorded, want %d", got, want)
	}
}
