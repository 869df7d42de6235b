package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bound is how long anything may take at most.
const bound = 2 * time.Minute

func boundedContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	t.Cleanup(cancel)
	return ctx
}

// runDemo runs the program.
func runDemo(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(boundedContext(t), args, strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// want checks that a text has all the parts.
func want(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s does not have %q:\n%s", what, part, text)
		}
	}
}

// putLine and deleteLine are lines of input.
func putLine(customer, note string) string {
	return `{"table":"orders","PutRequest":{"Item":{"customer":{"S":"` + customer + `"},"note":{"S":"` + note + `"}}}}` + "\n"
}

func deleteLine(customer string) string {
	return `{"table":"orders","DeleteRequest":{"Key":{"customer":{"S":"` + customer + `"}}}}` + "\n"
}

func TestRunOfTheBundledWrites(t *testing.T) {
	status, stdout, stderr := runDemo(t, "", "-ascii")
	if status != allWell || stderr != "" {
		t.Errorf("status %d, errors:\n%s", status, stderr)
	}
	want(t, "output", stdout,
		"5,402 of 2,623 items in 348 partitions, bundled with the demo",
		"1. bare: ", "2. none: ", "3. any_write: ",
		"0 of 217 calls", "stopped before batch 109, back before batch 163",
		"1,855 items, each as it was written last",
		"OK: no call failed and no write was lost.\n")
	if strings.ContainsAny(stdout, "\x1b\r") {
		t.Error("the output has control characters")
	}
	for _, line := range strings.Split(stdout, "\n") {
		if len(line) > columns {
			t.Errorf("longer than %d columns: %q", columns, line)
		}
	}
}

func TestRunReadsStandardInputAndSkipsBadLines(t *testing.T) {
	input := putLine("a", "1") + "oops\n\n" + putLine("a", "2") +
		`{"table":"orders","PutRequest":{"Item":{"customer":{"X":"b"}}}}` + "\n" + deleteLine("c")
	status, stdout, stderr := runDemo(t, input, "-input", "-", "-nodes", "2", "-batch", "1")
	if status != allWell {
		t.Errorf("status %d", status)
	}
	wantErrors := "standard input, line 2: not JSON: invalid character 'o' looking for beginning of value at byte 1\n" +
		"standard input, line 5: PutRequest.Item.customer: unknown type \"X\"\n"
	if stderr != wantErrors {
		t.Errorf("errors are\n%swant\n%s", stderr, wantErrors)
	}
	want(t, "output", stdout, "3 of 2 items in 2 partitions, standard input", "skipped       2 lines of the input",
		"3 of at most 1 write\n", "1 item, each as it was written last", "OK: ", "Skipped: 2 lines of the input.")
}

func TestRunReadsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "writes.jsonl")
	if err := os.WriteFile(path, []byte(putLine("a", "1")), 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := runDemo(t, "", "-input", path, "-nodes", "1", "-mode", "any_write")
	if status != allWell || stderr != "" {
		t.Errorf("status %d, errors:\n%s", status, stderr)
	}
	want(t, "output", stdout, path, "1. any_write", "none, because there is only one node", "OK: ")
}

func TestRunFailsForWantOfInput(t *testing.T) {
	status, _, stderr := runDemo(t, "", "-input", filepath.Join(t.TempDir(), "none"))
	if status != failed {
		t.Errorf("status %d without a file", status)
	}
	want(t, "error", stderr, "demo: open ", "none: no such file")
	if status, _, stderr = runDemo(t, "\n", "-input", "-"); status != failed {
		t.Errorf("status %d without a write", status)
	}
	want(t, "error", stderr, "demo: standard input: there is no write in it\n")
}

func TestRunIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if status := run(ctx, []string{"-input", "-"}, strings.NewReader(deleteLine("a")), &stdout, &stderr); status != failed {
		t.Errorf("status %d", status)
	}
	want(t, "error", stderr.String(), "demo: interrupted: ")
}
