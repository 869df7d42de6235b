package integration

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// An httpClientFunc is a client's HTTP client that a test answers for.
type httpClientFunc func(*http.Request) (*http.Response, error)

func (f httpClientFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

// reply answers a request.
func reply(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode:    status,
		Header:        http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       r,
	}
}

const (
	written      = `{"UnprocessedItems":{}}`
	internalOops = `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"oops"}`
)

// clientOptions are options for a client that reaches nothing but a function.
func clientOptions(do httpClientFunc) dynamodb.Options {
	return dynamodb.Options{
		Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "alternator", SecretAccessKey: "nobody checks"}, nil
		}),
		HTTPClient:                      do,
		DisableValidateResponseChecksum: true,
	}
}

// operationOf names the DynamoDB operation of a request; "" for /localnodes.
func operationOf(r *http.Request) string {
	target := r.Header.Get("X-Amz-Target")
	return target[strings.LastIndexByte(target, '.')+1:]
}

// A list collects values from several goroutines.
type list[T any] struct {
	mu     sync.Mutex
	values []T
}

func (l *list[T]) add(v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values = append(l.values, v)
}

// take returns the values and empties the list.
func (l *list[T]) take() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	values := l.values
	l.values = nil
	return values
}

func (l *list[T]) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.values)
}
