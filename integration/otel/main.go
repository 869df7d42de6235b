// Command otel shows what OpenTelemetry gets to see of the plugin: its metrics,
// and its attributes on the spans of the SDK. It makes a few calls on an
// embedded cluster, one of them to a node that has just died:
//
//	go run ./otel
//
// A program of one's own does what observed does here, and nothing else: the
// plugin records to the providers of the client that it is attached to.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/metrics/smithyotelmetrics"
	"github.com/aws/smithy-go/tracing/smithyoteltracing"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// patience is how long the run may take at most.
const patience = time.Minute

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "otel:", err)
		os.Exit(1)
	}
}

// observed is an option for a client that has its metrics and traces recorded
// with OpenTelemetry, and with them those of a plugin that is attached to it.
func observed(meters metric.MeterProvider, tracers trace.TracerProvider) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.MeterProvider = smithyotelmetrics.Adapt(meters)
		o.TracerProvider = smithyoteltracing.Adapt(tracers)
	}
}

// run makes the calls and lists what was recorded. A program would give its
// providers exporters instead of what keeps everything in memory here.
func run(ctx context.Context, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reader, spans := sdkmetric.NewManualReader(), tracetest.NewInMemoryExporter()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	defer func() { err = errors.Join(err, meters.Shutdown(ctx), tracers.Shutdown(ctx)) }()

	return perform(ctx, observed(meters, tracers), func() error {
		var recorded metricdata.ResourceMetrics
		if err := reader.Collect(ctx, &recorded); err != nil {
			return err
		}
		listMetrics(out, &recorded)
		fmt.Fprintln(out)
		return listLastAttempt(out, spans.GetSpans())
	})
}
