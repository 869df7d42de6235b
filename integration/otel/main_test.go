package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"regexp"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "accept the output as it is now")

// port finds the port in an endpoint, which is another one each time.
var port = regexp.MustCompile(`(http://[0-9.]+):\d+`)

func TestWhatIsRecorded(t *testing.T) {
	const record = "testdata/output.txt"
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	got := port.ReplaceAll(out.Bytes(), []byte("$1:8000"))
	if *update {
		if err := os.WriteFile(record, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the output differs from %s; `go test -update ./otel` accepts it.\nNow:\n%s", record, got)
	}
}

func TestARunThatIsCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := run(ctx, &out); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v, want %v", err, context.Canceled)
	}
	if out.Len() > 0 {
		t.Errorf("it printed\n%s", &out)
	}
}
