package middleware

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// retryer is the client's own Retryer, but for an attempt that follows one to a
// node that gave no answer, while another coordinator is untried: that attempt
// starts at once and takes no retry token. A dead node is no reason for a client
// to slow down or to use up a quota that is meant for a struggling server.
//
// Attempts, and which errors are retried, stay the client's own choice. Around
// another retryer of this kind it changes nothing.
type retryer struct {
	aws.RetryerV2
}

// wrapRetryer returns the client's retryer wrapped, and a nil one as what the
// SDK has in its place.
func wrapRetryer(r aws.Retryer) aws.Retryer {
	switch r := r.(type) {
	case nil:
		return &retryer{defaultRetryer()}
	case *retryer:
		return r
	case aws.RetryerV2:
		return &retryer{r}
	default:
		return &retryer{retryerV2{r}}
	}
}

// defaultRetryer is the retryer that the SDK gives a DynamoDB client that has
// none. Source: resolveRetryer in service/dynamodb/api_client.go.
func defaultRetryer() aws.RetryerV2 {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = 4
		o.BaseDelay = 25 * time.Millisecond
	})
}

// IsErrorRetryable is the client's answer, unless the request may have been
// sent and the plugin is told not to send such a request again.
func (r *retryer) IsErrorRetryable(err error) bool {
	return !isFinal(err) && r.RetryerV2.IsErrorRetryable(err)
}

// GetRetryToken takes no token for an attempt with another coordinator.
func (r *retryer) GetRetryToken(ctx context.Context, err error) (func(error) error, error) {
	if failsOver(err) {
		return func(error) error { return nil }, nil
	}
	return r.RetryerV2.GetRetryToken(ctx, err)
}

// RetryDelay is none before an attempt with another coordinator.
func (r *retryer) RetryDelay(attempt int, err error) (time.Duration, error) {
	if failsOver(err) {
		return 0, nil
	}
	return r.RetryerV2.RetryDelay(attempt, err)
}

// retryerV2 makes a RetryerV2 of a Retryer in the way of the SDK's own retry
// package, whose adapter is not exported.
type retryerV2 struct {
	aws.Retryer
}

// GetAttemptToken implements aws.RetryerV2.
func (r retryerV2) GetAttemptToken(context.Context) (func(error) error, error) {
	return r.GetInitialToken(), nil
}
