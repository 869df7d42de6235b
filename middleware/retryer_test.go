package middleware

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
)

// oldRetryer is a Retryer that is no RetryerV2, and says how often it is asked.
type oldRetryer struct{ retryables, delays, retryTokens, initialTokens int }

func (r *oldRetryer) IsErrorRetryable(error) bool { r.retryables++; return true }
func (r *oldRetryer) MaxAttempts() int            { return 7 }
func (r *oldRetryer) RetryDelay(attempt int, _ error) (time.Duration, error) {
	r.delays++
	return time.Duration(attempt) * time.Minute, nil
}
func (r *oldRetryer) GetRetryToken(context.Context, error) (func(error) error, error) {
	r.retryTokens++
	return func(error) error { return nil }, errors.New("no token left")
}
func (r *oldRetryer) GetInitialToken() func(error) error {
	r.initialTokens++
	return func(error) error { return nil }
}

func TestRetryerLeavesWhatItIsNotAbout(t *testing.T) {
	var own oldRetryer
	r, ok := wrapRetryer(&own).(aws.RetryerV2)
	if !ok {
		t.Fatal("the wrapped Retryer is no RetryerV2")
	}
	err := fmt.Errorf("outer: %w", &CoordinatorError{Err: errors.New("throttled")})
	if !r.IsErrorRetryable(err) || own.retryables != 1 {
		t.Error("IsErrorRetryable is not the client's own")
	}
	if r.MaxAttempts() != 7 {
		t.Errorf("MaxAttempts is %d, want 7", r.MaxAttempts())
	}
	if delay, _ := r.RetryDelay(2, err); delay != 2*time.Minute || own.delays != 1 {
		t.Errorf("the delay is %v, want the client's own", delay)
	}
	if _, tokenErr := r.GetRetryToken(t.Context(), err); tokenErr == nil || own.retryTokens != 1 {
		t.Errorf("the token error is %v, want the client's own", tokenErr)
	}
	if _, err := r.GetAttemptToken(t.Context()); err != nil || own.initialTokens != 1 {
		t.Errorf("attempt tokens are not the client's own: %v", err)
	}
}

func TestRetryerFailsOverForFree(t *testing.T) {
	var own oldRetryer
	r := wrapRetryer(&own).(aws.RetryerV2)
	err := &smithy.OperationError{Err: &CoordinatorError{Err: errors.New("reset"), failover: true}}
	if delay, delayErr := r.RetryDelay(3, err); delay != 0 || delayErr != nil {
		t.Errorf("the delay is %v (%v), want none", delay, delayErr)
	}
	release, tokenErr := r.GetRetryToken(t.Context(), err)
	if tokenErr != nil || release(nil) != nil || release(err) != nil {
		t.Errorf("a free token cannot be had or released: %v", tokenErr)
	}
	if own.delays != 0 || own.retryTokens != 0 {
		t.Errorf("the client's own was asked for %d delays and %d tokens", own.delays, own.retryTokens)
	}
	if !r.IsErrorRetryable(err) || own.retryables != 1 {
		t.Error("whether the error is retried is not the client's own choice")
	}
}

func TestRetryerDoesNotRetryWhatIsFinal(t *testing.T) {
	var own oldRetryer
	r := wrapRetryer(&own)
	if r.IsErrorRetryable(&smithy.OperationError{Err: &CoordinatorError{Err: unrepeatable{errors.New("reset")}}}) {
		t.Error("a final error is retried")
	}
}

func TestWrappingARetryerTwice(t *testing.T) {
	once := wrapRetryer(retry.NewStandard())
	if twice := wrapRetryer(once); twice != once {
		t.Error("wrapping twice is not wrapping once")
	}
	// The SDK may have put something around the first.
	var own oldRetryer
	r := wrapRetryer(retry.AddWithMaxAttempts(wrapRetryer(&own), 2)).(aws.RetryerV2)
	if r.MaxAttempts() != 2 {
		t.Errorf("MaxAttempts is %d, want 2", r.MaxAttempts())
	}
	throttled := &CoordinatorError{Err: errors.New("throttled")}
	_, _ = r.RetryDelay(1, throttled)
	_, _ = r.GetRetryToken(t.Context(), throttled)
	if own.delays != 1 || own.retryTokens != 1 {
		t.Errorf("the client's own was asked for %d delays and %d tokens, want 1 each", own.delays, own.retryTokens)
	}
}

// TestNoRetryer is about options that no client was made of.
func TestNoRetryer(t *testing.T) {
	want := dynamodb.New(dynamodb.Options{}).Options().Retryer
	got := wrapRetryer(nil)
	if got.MaxAttempts() != want.MaxAttempts() {
		t.Errorf("%d attempts, want %d as in a client of the SDK", got.MaxAttempts(), want.MaxAttempts())
	}
	if !got.IsErrorRetryable(&timeoutError{}) || got.IsErrorRetryable(errors.New("whatever")) {
		t.Error("it does not retry what a client of the SDK does")
	}
}

func TestAttachWrapsTheClientsRetryer(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	var own oldRetryer
	client := dynamodb.New(dynamodb.Options{Retryer: &own, RetryMaxAttempts: 3}, p.Attach)
	r := client.Options().Retryer
	if r.MaxAttempts() != 3 {
		t.Errorf("MaxAttempts is %d, want the client's 3", r.MaxAttempts())
	}
	if delay, _ := r.RetryDelay(1, &CoordinatorError{failover: true}); delay != 0 {
		t.Errorf("the delay before another coordinator is %v, want none", delay)
	}
}
