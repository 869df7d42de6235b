package integration

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen. It is never waited
// for in a test that passes.
const patience = 30 * time.Second

// deadline is a context for calls that must end.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// await waits until a channel is closed or receives.
func await[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v := <-c:
		return v
	case <-timer.C:
		t.Fatalf("within %v there was no %s", patience, what)
		panic("unreachable")
	}
}

// eventually waits until a condition holds that nothing tells of.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("within %v it did not come about that %s", patience, what)
		}
	}
}

// cancelOn returns a hook for a node that cancels a context when the node
// receives an operation.
func cancelOn(operation string, cancel context.CancelFunc) func(string, *http.Request) {
	return func(received string, _ *http.Request) {
		if received == operation {
			cancel()
		}
	}
}
