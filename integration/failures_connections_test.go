package integration

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// transportOf returns the transport of a client that has not been made yet.
func transportOf(o *dynamodb.Options) *http.Transport {
	return o.HTTPClient.(*http.Client).Transport.(*http.Transport)
}

// An untraced HTTP client does not tell how far a request gets, as one that is
// not built on net/http.
type untraced struct{ client *http.Client }

func (u untraced) Do(r *http.Request) (*http.Response, error) {
	return u.client.Do(r.WithContext(valueless{r.Context()}))
}

// valueless is a context that ends when another does and has none of its values.
type valueless struct{ context.Context }

func (valueless) Value(any) any { return nil }

func untrace(o *dynamodb.Options) { o.HTTPClient = untraced{o.HTTPClient.(*http.Client)} }

func TestRefusedWithAnUntracedClient(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(6)), func(o *dynamodb.Options) {
		untrace(o)
		o.Retryer = a
	}, downAtOnce)
	s.refuse(0, 1, 2, 4, 5)
	s.want(s.write(5), 1, s.order(5)[:5]...)
	s.wantDown(0, 1, 2, 5)
	s.wantWell(3)
	s.want(s.write(5), 1, 3)
	a.want(t, 2)
}

func TestHangUpWithAnUntracedClient(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(3)), func(o *dynamodb.Options) {
		untrace(o)
		o.Retryer = a
	}, impatientAttempts)
	s.Record(true)
	order := s.order(1)
	s.Node(order[0]).Inject(cluster.Hang().On("BatchWriteItem"))
	s.Node(order[1]).Inject(cluster.ResetAfterRequest().On("BatchWriteItem"))
	s.want(s.write(1), 3, order...)
	wantEqual(t, "nodes that were asked", asked(s.Cluster, "BatchWriteItem"), order)
	a.want(t, 3)
}

// TestRefusedByADiallerThatDoesNotTrace is about HTTP clients whose connections
// are made by something else than package net, such as a tunnel.
func TestRefusedByADiallerThatDoesNotTrace(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	var broken atomic.Bool
	s := newSceneOf(t, c, func(o *dynamodb.Options) {
		transportOf(o).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if broken.Load() && c.NodeAt(address).Index() == 1 {
				return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.EHOSTUNREACH}
			}
			return c.DialContext(ctx, network, address)
		}
	}, downAtOnce)
	broken.Store(true)
	s.pool.CloseIdleConnections()
	s.want(s.write(1), 1, s.order(1)[:2]...)
	s.wantDown(1)
	s.wantWell(0, 2)
}

// TestSaturatedPool has requests wait for the only connection that the HTTP
// client allows itself to a node. They go elsewhere, and nobody is blamed.
func TestSaturatedPool(t *testing.T) {
	t.Parallel()
	const wait = 800 * time.Millisecond
	for name, with := range map[string]struct {
		client func(*dynamodb.Options)
		plugin func(*middleware.Options)
	}{
		"attempt timeout": {
			func(*dynamodb.Options) {},
			func(o *middleware.Options) { o.AttemptTimeout = wait },
		},
		"timeout of the HTTP client": {
			func(o *dynamodb.Options) { o.HTTPClient.(*http.Client).Timeout = wait },
			func(*middleware.Options) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount()
			s := newSceneOf(t, cluster.New(t, nodes(3)), func(o *dynamodb.Options) {
				transportOf(o).MaxConnsPerHost = 1
				with.client(o)
				o.Retryer = a
			}, with.plugin, downAtOnce)
			release, released := s.saturate(1)
			for range 2 {
				s.want(s.write(1), 1, s.order(1)[:2]...)
				s.wantWell(0, 1, 2)
			}
			a.want(t, 2)
			close(release)
			if err := await(t, "answer to the request that was held", released); err != nil {
				t.Fatal(err)
			}
			s.want(s.write(1), 1, 1)
		})
	}
}

// saturate occupies the only connection to a node by a request that ends when
// release is closed.
func (s *scene) saturate(node int) (release chan struct{}, released chan error) {
	release, released = make(chan struct{}), make(chan error, 1)
	s.Node(node).Inject(cluster.Hold(release).On("ListTables"))
	other := s.ClientOptions()
	other.BaseEndpoint = new(string)
	*other.BaseEndpoint = s.Node(node).URL()
	other.HTTPClient = &http.Client{Transport: s.pool.Transport} // without its timeout
	go func() {
		_, err := dynamodb.New(other).ListTables(s.ctx, &dynamodb.ListTablesInput{})
		released <- err
	}()
	eventually(s.t, "the node holds a request", func() bool { return s.Node(node).Count("ListTables") == 1 })
	return release, released
}

// TestConnectionsAreKept: what bounds a request in time must not cost it its
// connection.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3, func(o *middleware.Options) { o.AttemptTimeout = patience })
	s.write(1)
	before := s.Node(1).Connections()
	for range 100 {
		s.want(s.write(1), 1, 1)
	}
	// net/http gives one up now and then, when it learns of an answer before it
	// learns that the request was written.
	if got := s.Node(1).Connections() - before; got > 50 {
		t.Errorf("100 requests took %d new connections", got)
	}
}
