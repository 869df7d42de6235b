package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// testDemo makes a demo of the first of the bundled writes on embedded nodes.
func testDemo(t *testing.T, writes int, names ...string) (*demo, *bytes.Buffer) {
	t.Helper()
	f, err := parseFlags([]string{"-mode", strings.Join(names, ","), "-input", "-"})
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(bundled))[:writes]
	input, err := f.readInput(bytes.NewReader(bytes.Join(lines, nil)), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.openSite()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	var output bytes.Buffer
	return &demo{
		site: s, input: input, scenarios: f.scenarios,
		report: newReport(&output, true), progress: newProgress(&output, true),
	}, &output
}

func TestOutcomesOfAllModes(t *testing.T) {
	d, _ := testDemo(t, 1500, "bare", "none", "rmw", "any_write")
	if err := d.perform(boundedContext(t)); err != nil {
		t.Fatal(err)
	}
	bare, none, rmw, anyWrite := d.outcomes[0], d.outcomes[1], d.outcomes[2], d.outcomes[3]
	for _, o := range d.outcomes {
		if o.failed != 0 || o.differences.any() || o.written != d.input.writes || o.items != len(d.input.expected) {
			t.Errorf("%s: %d calls failed, %d of %d writes, %d of %d items, %v", o.name, o.failed,
				o.written, d.input.writes, o.items, len(d.input.expected), &o.differences)
		}
		received := 0
		for _, n := range o.requests {
			received += n.count
		}
		if len(o.requests) != 5 || o.calls != len(d.input.batches) || received != o.calls {
			t.Errorf("%s: %d calls, %d nodes received %d", o.name, o.calls, len(o.requests), received)
		}
	}
	if bare.requests[0].count != bare.calls || bare.failovers != 0 {
		t.Errorf("the bare client sent %v", bare.requests)
	}
	for _, o := range []*outcome{none, rmw} {
		if o.voted != 0 || o.share() < 0.1 || o.share() > 0.3 {
			t.Errorf("%s: %d calls were voted on, %v of the writes met their coordinator", o.name, o.voted, o.share())
		}
	}
	if anyWrite.share() < none.share()+0.05 || anyWrite.voted < anyWrite.calls/2 {
		t.Errorf("any_write: %d calls were voted on, %v of the writes met their coordinator, %v in mode none",
			anyWrite.voted, anyWrite.share(), none.share())
	}
	if anyWrite.failovers == 0 || none.failovers != 0 {
		t.Errorf("%d failovers with an outage, %d without", anyWrite.failovers, none.failovers)
	}
}

// batchHook has a function see, and change, every batch of a client.
func batchHook(hook func(*dynamodb.BatchWriteItemInput, sendFunc) (*dynamodb.BatchWriteItemOutput, error)) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("batchHook", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			batch, ok := in.Parameters.(*dynamodb.BatchWriteItemInput)
			if !ok {
				return next.HandleInitialize(ctx, in)
			}
			var metadata middleware.Metadata
			out, err := hook(batch, func(changed *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
				result, m, err := next.HandleInitialize(ctx, middleware.InitializeInput{Parameters: changed})
				metadata = m
				out, _ := result.Result.(*dynamodb.BatchWriteItemOutput)
				return out, err
			})
			return middleware.InitializeOutput{Result: out}, metadata, err
		}), middleware.Before)
	}
}

// halve divides the writes of a batch.
func halve(items map[string][]types.WriteRequest) (first, second map[string][]types.WriteRequest) {
	first, second = map[string][]types.WriteRequest{}, map[string][]types.WriteRequest{}
	for table, writes := range items {
		n := (len(writes) + 1) / 2
		first[table] = writes[:n]
		if n < len(writes) {
			second[table] = writes[n:]
		}
	}
	return first, second
}

type sendFunc = func(*dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error)

func TestLostWritesAreReported(t *testing.T) {
	d, output := testDemo(t, 300, "none")
	batch := 0
	d.site.options.APIOptions = append(d.site.options.APIOptions, batchHook(
		func(in *dynamodb.BatchWriteItemInput, send sendFunc) (*dynamodb.BatchWriteItemOutput, error) {
			if batch++; batch == 6 {
				return &dynamodb.BatchWriteItemOutput{}, nil
			}
			return send(in)
		}))
	err := d.perform(boundedContext(t))
	if err == nil {
		t.Fatal("no error although a batch was lost")
	}
	want(t, "error", err.Error(), "none: ", " lost (")
	want(t, "output", output.String(), "read back", " lost (")
	if strings.Contains(output.String(), "OK: ") {
		t.Errorf("output says that all is well:\n%s", output)
	}
}

func TestFailedCallsAreReported(t *testing.T) {
	d, output := testDemo(t, 300, "none")
	cause := errors.New("the disk is full")
	d.site.options.APIOptions = append(d.site.options.APIOptions, batchHook(
		func(in *dynamodb.BatchWriteItemInput, send sendFunc) (*dynamodb.BatchWriteItemOutput, error) {
			out, err := send(in)
			return out, errors.Join(err, cause)
		}))
	err := d.perform(boundedContext(t))
	if !errors.Is(err, cause) {
		t.Fatalf("error is %v", err)
	}
	want(t, "error", err.Error(), fmt.Sprintf("none: %[1]d of %[1]d calls failed, the first with: ", len(d.input.batches)))
	want(t, "output", output.String(), "read back     ", "each as it was written last")
}

func TestUnprocessedWritesAreSentAgain(t *testing.T) {
	d, _ := testDemo(t, 300, "any_write")
	calls := 0
	d.site.options.APIOptions = append(d.site.options.APIOptions, batchHook(
		func(in *dynamodb.BatchWriteItemInput, send sendFunc) (*dynamodb.BatchWriteItemOutput, error) {
			if calls++; calls != 2 {
				return send(in)
			}
			first, second := halve(in.RequestItems)
			out, err := send(&dynamodb.BatchWriteItemInput{RequestItems: first})
			if err == nil {
				out.UnprocessedItems = second
			}
			return out, err
		}))
	if err := d.perform(boundedContext(t)); err != nil {
		t.Fatal(err)
	}
	if o := d.outcomes[0]; o.calls != len(d.input.batches)+1 || o.written != d.input.writes {
		t.Errorf("%d calls for %d batches, %d of %d writes", o.calls, len(d.input.batches), o.written, d.input.writes)
	}
}
