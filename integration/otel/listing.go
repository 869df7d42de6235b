package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// prefix is what all names of the plugin's metrics and attributes begin with.
// The SDK records more beside them.
const prefix = "keyroute."

// listMetrics writes the plugin's metrics, each with its kind, its unit and its
// values.
func listMetrics(out io.Writer, recorded *metricdata.ResourceMetrics) {
	var ours []metricdata.Metrics
	for _, scope := range recorded.ScopeMetrics {
		for _, m := range scope.Metrics {
			if strings.HasPrefix(m.Name, prefix) {
				ours = append(ours, m)
			}
		}
	}
	slices.SortFunc(ours, func(a, b metricdata.Metrics) int { return strings.Compare(a.Name, b.Name) })
	for _, m := range ours {
		kind, points := pointsOf(m.Data)
		fmt.Fprintf(out, "%s  %s, %s\n", m.Name, kind, m.Unit)
		for _, line := range linesOf(points) {
			fmt.Fprintln(out, line)
		}
	}
}

// pointsOf returns the kind of a metric and its values. The plugin has only
// integers.
func pointsOf(data metricdata.Aggregation) (kind string, points []metricdata.DataPoint[int64]) {
	switch d := data.(type) {
	case metricdata.Sum[int64]:
		return "counter", d.DataPoints
	case metricdata.Gauge[int64]:
		return "gauge", d.DataPoints
	}
	return fmt.Sprintf("%T", data), nil
}

func linesOf(points []metricdata.DataPoint[int64]) []string {
	slices.SortFunc(points, func(a, b metricdata.DataPoint[int64]) int {
		return strings.Compare(textOf(a.Attributes.ToSlice()), textOf(b.Attributes.ToSlice()))
	})
	var lines []string
	for _, p := range points {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("    %3d  %s", p.Value, textOf(p.Attributes.ToSlice())), " "))
	}
	return lines
}

// listLastAttempt writes the plugin's attributes on the span of the attempt
// that ended last.
func listLastAttempt(out io.Writer, spans tracetest.SpanStubs) error {
	for _, span := range slices.Backward(spans) {
		if span.Name != "Attempt" {
			continue
		}
		ours := slices.DeleteFunc(span.Attributes, func(a attribute.KeyValue) bool {
			return !strings.HasPrefix(string(a.Key), prefix)
		})
		fmt.Fprintf(out, "span %s\n    %s\n", span.Name, textOf(ours))
		return nil
	}
	return errors.New("there is no span of an attempt")
}

// textOf writes attributes in the order of their keys.
func textOf(attributes []attribute.KeyValue) string {
	var parts []string
	for _, a := range attributes {
		value := a.Value.String()
		if strings.Contains(value, " ") {
			value = fmt.Sprintf("%q", value)
		}
		parts = append(parts, string(a.Key)+"="+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}
