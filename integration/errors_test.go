package integration

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// coordinatorError finds the plugin's own error in an error of a call.
func coordinatorError(t testing.TB, err error) *middleware.CoordinatorError {
	t.Helper()
	var e *middleware.CoordinatorError
	if !errors.As(err, &e) {
		t.Fatalf("no coordinator in the error %v", err)
	}
	return e
}

// apiError finds the server's error in an error of a call.
func apiError(t testing.TB, err error) smithy.APIError {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) {
		t.Fatalf("no answer of a server in the error %v", err)
	}
	return e
}

// The SDK's own errors are found as they are without the plugin.
func TestAnErrorNamesTheCoordinatorAndKeepsItsCause(t *testing.T) {
	c, client := votingCluster(t, 2, "orders")
	c.Inject(oops())
	in := batch(writes{"orders": newVoter(t, c).puts(1)})
	_, err := client.BatchWriteItem(deadline(t), in, impatient(3))

	e := coordinatorError(t, err)
	if e.Coordinator != c.Node(1).URL() || e.Attempt != 3 {
		t.Errorf("coordinator %s in attempt %d, want %s in attempt 3", e.Coordinator, e.Attempt, c.Node(1).URL())
	}
	if want := "coordinator " + c.Node(1).URL() + ", attempt 3: "; !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %q, want %q in it", err, want)
	}
	if api := apiError(t, err); api.ErrorCode() != "InternalServerError" || api.ErrorMessage() != "oops" {
		t.Errorf("the server's error is %s: %s, want InternalServerError: oops", api.ErrorCode(), api.ErrorMessage())
	}
	if _, ok := errors.AsType[*types.InternalServerError](e.Err); !ok {
		t.Errorf("no *types.InternalServerError in %v", e.Err)
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); !ok || response.HTTPStatusCode() != 500 {
		t.Errorf("no *http.ResponseError with status 500 in %v", err)
	}
	if exhausted, ok := errors.AsType[*retry.MaxAttemptsError](err); !ok || exhausted.Attempt != 3 {
		t.Errorf("no *retry.MaxAttemptsError of attempt 3 in %v", err)
	}
	if operation, ok := errors.AsType[*smithy.OperationError](err); !ok || operation.OperationName != "BatchWriteItem" {
		t.Errorf("no *smithy.OperationError of BatchWriteItem in %v", err)
	}
}

func TestAnErrorThatIsNotRetriedComesFromTheFirstAttempt(t *testing.T) {
	c, client := votingCluster(t, 3, "orders")
	in := batch(writes{"orders": newVoter(t, c).puts(2), "missing": {put(item{"pk": str("a")})}})
	_, err := client.BatchWriteItem(deadline(t), in)
	e := coordinatorError(t, err)
	if e.Coordinator != c.Node(2).URL() || e.Attempt != 1 {
		t.Errorf("coordinator %s in attempt %d, want %s in attempt 1", e.Coordinator, e.Attempt, c.Node(2).URL())
	}
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		t.Errorf("no *types.ResourceNotFoundException in %v", err)
	}
	if got := c.Count("BatchWriteItem"); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}

func TestAnErrorOfAConnectionKeepsItsCause(t *testing.T) {
	c, client := votingCluster(t, 1, "orders")
	in := batch(writes{"orders": newVoter(t, c).puts(0)})
	c.Node(0).Refuse()
	_, err := client.BatchWriteItem(deadline(t), in, impatient(2))
	if e := coordinatorError(t, err); e.Coordinator != c.Node(0).URL() || e.Attempt != 2 {
		t.Errorf("coordinator %s in attempt %d, want %s in attempt 2", e.Coordinator, e.Attempt, c.Node(0).URL())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the error is %v, want a refused connection in it", err)
	}
}

func TestACancelledCallSaysSo(t *testing.T) {
	c, client := votingCluster(t, 2, "orders")
	in := batch(writes{"orders": newVoter(t, c).puts(1)})
	ctx, cancel := context.WithCancel(deadline(t))
	c.Inject(cluster.Hang().On("BatchWriteItem"))
	c.Node(1).Before(cancelOn("BatchWriteItem", cancel))
	_, err := client.BatchWriteItem(ctx, in)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want a cancelled context in it", err)
	}
	if e := coordinatorError(t, err); e.Coordinator != c.Node(1).URL() || e.Attempt != 1 {
		t.Errorf("coordinator %s in attempt %d, want %s in attempt 1", e.Coordinator, e.Attempt, c.Node(1).URL())
	}
	if got := c.Count("BatchWriteItem"); got != 1 {
		t.Errorf("%d requests, want 1: a call that was given up goes nowhere else", got)
	}
}
