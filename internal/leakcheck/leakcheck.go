// Package leakcheck fails the tests of a package that leave goroutines behind.
// It is for tests:
//
//	func TestMain(m *testing.M) { leakcheck.Main(m) }
package leakcheck

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long goroutines that are about to end are waited for.
const patience = 5 * time.Second

// leaks are what the stack of a goroutine that should be gone has in it: code of
// this module, or a connection of a client or server that nobody closed.
var leaks = []string{
	"github.com/keyroute/keyroute/",
	"net/http.(*persistConn).",
	"net/http.(*conn).serve",
}

// Main runs the tests of a package and exits, with an error if they fail or if
// goroutines are left at the end. Connections that the default HTTP client keeps
// for later are closed first.
func Main(m *testing.M) {
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	left := leaked()
	for end := time.Now().Add(patience); len(left) > 0 && time.Now().Before(end); left = leaked() {
		time.Sleep(10 * time.Millisecond)
	}
	if code == 0 && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "leakcheck: the tests left %d goroutines:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// leaked returns the stacks of the goroutines that should be gone.
func leaked() []string {
	buffer := make([]byte, 1<<20) // what does not fit is seen when the rest is gone
	stacks := string(buffer[:runtime.Stack(buffer, true)])
	var left []string
	for i, stack := range strings.Split(stacks, "\n\n") {
		if i > 0 && slices.ContainsFunc(leaks, func(l string) bool { return strings.Contains(stack, l) }) {
			left = append(left, stack) // the first one is the caller's own
		}
	}
	return left
}
