package middleware

import (
	"errors"
	"fmt"
	"time"

	"github.com/keyroute/keyroute/resolver"
)

// A CoordinatorError is the error of an attempt, with the node that it was sent
// to. Every error of a routed request has one in its chain, for errors.As, but
// for that of a caller who gives up between two attempts, of which the SDK tells
// nothing else. It unwraps to its cause, so that the SDK's own errors are found
// as ever.
type CoordinatorError struct {
	// Coordinator is the canonical endpoint of the node.
	Coordinator string
	// Attempt is the SDK's attempt, counted from 1.
	Attempt int
	// Err is the cause.
	Err error

	// failover is set if the node gave no answer and another one is untried:
	// the next attempt goes there, for free and at once.
	failover bool
}

func newCoordinatorError(node *resolver.Node, attempt int, err error) *CoordinatorError {
	return &CoordinatorError{Coordinator: node.String(), Attempt: attempt, Err: err}
}

// Error implements error.
func (e *CoordinatorError) Error() string {
	return fmt.Sprintf("coordinator %s, attempt %d: %v", e.Coordinator, e.Attempt, e.Err)
}

// Unwrap returns the cause.
func (e *CoordinatorError) Unwrap() error { return e.Err }

// failsOver reports whether the next attempt after err goes to a node that was
// not tried yet because the last one gave no answer.
func failsOver(err error) bool {
	var e *CoordinatorError
	return errors.As(err, &e) && e.failover
}

// isFinal reports whether err must not be followed by another attempt.
func isFinal(err error) bool {
	var e *CoordinatorError
	if !errors.As(err, &e) {
		return false
	}
	_, final := e.Err.(unrepeatable) //nolint:errorlint // that of an attempt within the cause does not count
	return final
}

// unrepeatable is the cause of an error that must not be followed by another
// attempt. The SDK's own retryers ask errors for that, so it also reaches those
// that were given to a single call.
type unrepeatable struct{ error }

// RetryableError implements what retry.RetryableError asks for.
func (unrepeatable) RetryableError() bool { return false }

// Unwrap returns the cause.
func (e unrepeatable) Unwrap() error { return e.error }

// timeoutError is what a node did not do in time. The SDK retries it, as any
// error of a connection.
type timeoutError struct {
	what  string
	after time.Duration
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("keyroute: %s within %v", e.what, e.after)
}

// Timeout marks the error as a timeout, as in [net.Error].
func (e *timeoutError) Timeout() bool { return true }

// Temporary completes [net.Error].
func (e *timeoutError) Temporary() bool { return true }

// ConnectionError marks the error as one that the SDK's retryers retry.
func (e *timeoutError) ConnectionError() bool { return true }
