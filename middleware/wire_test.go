package middleware

import (
	"context"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// newWireClient makes a client that does not sign and makes up to so many
// attempts.
func newWireClient(t *testing.T, seeds []string, httpClient dynamodb.HTTPClient, attempts int, apiOptions ...func(*middleware.Stack) error) (*Plugin, *dynamodb.Client) {
	t.Helper()
	p, err := New(func(o *Options) { o.Seeds = seeds })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p, dynamodb.New(dynamodb.Options{
		Region:      "us-east-1",
		Credentials: aws.AnonymousCredentials{},
		HTTPClient:  httpClient,
		Retryer:     retry.AddWithMaxAttempts(retry.NewStandard(), attempts),
		APIOptions:  apiOptions,
	}, p.Attach)
}

// A program that does not sign may authorize its requests in a way of its own.
func TestTheCallersAuthorizationStays(t *testing.T) {
	var authorization atomic.Value
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			authorization.Store(r.Header.Get("Authorization"))
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer node.Close()
	_, client := newWireClient(t, []string{node.URL}, nil, 1, smithyhttp.AddHeaderValue("Authorization", "Bearer of the caller"))
	if _, err := client.ListTables(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := authorization.Load(); got != "Bearer of the caller" {
		t.Errorf("the request is authorized as %q", got)
	}
}

// A mute connection can be made to fail when it is written to.
type mute struct {
	net.Conn
	now *atomic.Bool
}

func (m mute) Write(b []byte) (int, error) {
	if m.now.Load() {
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	}
	return m.Conn.Write(b)
}

// A connection of HTTP/2 is written to, for the answer to a PING for example,
// while requests wait that were sent whole. When that fails they fail with the
// error of a write, and may have been carried out.
func TestAWriteErrorOfHTTP2DoesNotMeanThatNothingWasSent(t *testing.T) {
	var carriedOut atomic.Int64
	var broken atomic.Bool
	roots := x509.NewCertPool()
	var seeds []string
	for range 2 {
		node := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || r.ProtoMajor != 2 {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			carriedOut.Add(1)
			time.Sleep(20 * time.Millisecond) // the client acknowledges the settings
			broken.Store(true)
			<-r.Context().Done()
			broken.Store(false)
		}))
		node.EnableHTTP2 = true
		node.Config.HTTP2 = &http.HTTP2Config{SendPingTimeout: 50 * time.Millisecond, PingTimeout: time.Second}
		node.Config.ErrorLog = log.New(io.Discard, "", 0)
		node.StartTLS()
		defer node.Close()
		roots.AddCert(node.Certificate())
		seeds = append(seeds, node.URL)
	}
	httpClient := awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) {
		tr.TLSClientConfig.RootCAs = roots
		tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return mute{conn, &broken}, nil
		}
	})
	_, client := newWireClient(t, seeds, httpClient, 1)
	_, err := client.ListTables(t.Context(), nil)
	if !isWriteError(err) {
		t.Errorf("error is %v, want that of a write", err)
	}
	if got := carriedOut.Load(); got != 1 {
		t.Errorf("the request was carried out %d times in one attempt", got)
	}
}

// A cluster of one node has nobody to go on to, however often the SDK retries.
func TestRetriesOfOneNodeAreNoFailovers(t *testing.T) {
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer node.Close()
	p, client := newWireClient(t, []string{node.URL}, nil, 3)
	if _, err := client.ListTables(t.Context(), nil); err == nil {
		t.Error("the call went well")
	}
	if got := p.Stats().Failovers; got != 0 {
		t.Errorf("%d failovers are counted", got)
	}
}
