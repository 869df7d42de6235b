package leakcheck

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAGoroutineIsSeenUntilItEnds(t *testing.T) {
	end := make(chan struct{})
	go func() { <-end }()
	waitFor(t, "TestAGoroutineIsSeenUntilItEnds", 1)
	close(end)
	waitFor(t, "TestAGoroutineIsSeenUntilItEnds", 0)
}

func TestAConnectionIsSeenUntilItIsClosed(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	transport := &http.Transport{}
	client := &http.Client{Transport: transport}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	waitFor(t, "net/http.(*persistConn).readLoop", 1)
	transport.CloseIdleConnections()
	waitFor(t, "net/http.(*persistConn).readLoop", 0)
	waitFor(t, "net/http.(*conn).serve", 0)
}

// waitFor waits until a number of the goroutines that are left have a text in
// their stack.
func waitFor(t *testing.T, text string, want int) {
	t.Helper()
	got := -1
	for end := time.Now().Add(patience); got != want && time.Now().Before(end); time.Sleep(time.Millisecond) {
		got = 0
		for _, stack := range leaked() {
			if strings.Contains(stack, text) {
				got++
			}
		}
	}
	if got != want {
		t.Errorf("%d goroutines with %s, want %d", got, text, want)
	}
}
