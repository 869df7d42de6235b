package middleware

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyroute/keyroute/resolver"
)

func TestCoordinatorError(t *testing.T) {
	node, err := resolver.ParseNode("HTTP://Node-1:80")
	if err != nil {
		t.Fatal(err)
	}
	cause := &types.RequestLimitExceeded{}
	err = &retry.MaxAttemptsError{Attempt: 3, Err: newCoordinatorError(node, 3, &smithy.OperationError{
		ServiceID: "DynamoDB", OperationName: "PutItem", Err: fmt.Errorf("inner: %w", cause)})}

	var e *CoordinatorError
	if !errors.As(err, &e) {
		t.Fatal("errors.As does not find it")
	}
	if e.Coordinator != "http://node-1" || e.Attempt != 3 {
		t.Errorf("it is of %s and attempt %d, want http://node-1 and 3", e.Coordinator, e.Attempt)
	}
	if want := "coordinator http://node-1, attempt 3: operation error DynamoDB: PutItem, inner: RequestLimitExceeded: "; e.Error() != want {
		t.Errorf("it reads %q, want %q", e, want)
	}
	var api smithy.APIError
	var modeled *types.RequestLimitExceeded
	var operation *smithy.OperationError
	if !errors.As(err, &api) || !errors.As(err, &modeled) || !errors.As(err, &operation) || modeled != cause {
		t.Error("the SDK's own errors are not found in it")
	}
}

func TestWhatFollowsAnError(t *testing.T) {
	for name, test := range map[string]struct {
		err              error
		failsOver, final bool
	}{
		"no error":       {nil, false, false},
		"another's":      {syscall.ECONNRESET, false, false},
		"of an answer":   {&CoordinatorError{}, false, false},
		"of no answer":   {&CoordinatorError{failover: true}, true, false},
		"of no resend":   {&CoordinatorError{Err: unrepeatable{syscall.ECONNRESET}}, false, true},
		"wrapped":        {&retry.MaxAttemptsError{Err: fmt.Errorf("outer: %w", &CoordinatorError{failover: true})}, true, false},
		"joined":         {errors.Join(&CoordinatorError{Err: unrepeatable{syscall.ECONNRESET}}, errors.New("no token")), false, true},
		"only the outer": {&CoordinatorError{Err: &CoordinatorError{Err: unrepeatable{syscall.ECONNRESET}, failover: true}}, false, false},
	} {
		if got := failsOver(test.err); got != test.failsOver {
			t.Errorf("%s: fails over: %v, want %v", name, got, test.failsOver)
		}
		if got := isFinal(test.err); got != test.final {
			t.Errorf("%s: final: %v, want %v", name, got, test.final)
		}
	}
}

func TestTimeoutError(t *testing.T) {
	err := newCoordinatorError(&resolver.Node{}, 1, &timeoutError{what: "no answer", after: 1500 * time.Millisecond})
	var network net.Error
	if !errors.As(err, &network) || !network.Timeout() {
		t.Error("it is no timeout of the network")
	}
	if want := "keyroute: no answer within 1.5s"; err.Err.Error() != want {
		t.Errorf("it reads %q, want %q", err.Err, want)
	}
	if !retry.NewStandard().IsErrorRetryable(err) {
		t.Error("the SDK does not retry it")
	}
}
