package integration

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// pluginGoroutines are the stacks of the goroutines that plugins run.
func pluginGoroutines() []string {
	buffer := make([]byte, 1<<22)
	all := string(buffer[:runtime.Stack(buffer, true)])
	var stacks []string
	for stack := range strings.SplitSeq(all, "\n\n") {
		if strings.Contains(stack, "created by github.com/keyroute/keyroute/discovery.") ||
			strings.Contains(stack, "created by github.com/keyroute/keyroute/middleware.") ||
			strings.Contains(stack, "github.com/keyroute/keyroute/discovery.") && strings.Contains(stack, "created by sync.") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// checkNoGoroutine waits until none runs: one that has done its work may take a
// moment to be gone.
func checkNoGoroutine(t *testing.T) {
	t.Helper()
	eventually(t, "no goroutine of a plugin runs", func() bool { return len(pluginGoroutines()) == 0 })
}

// What hangs is given up: Close does not need its patience.
func TestCloseWhileAServerHangs(t *testing.T) {
	for _, operation := range []string{"DescribeTable", cluster.LocalNodes} {
		t.Run(operation, func(t *testing.T) {
			c := cluster.New(t, nodes(2))
			createTable(t, c, "orders", "pk", "S")
			p := newPlugin(t, c, mode(middleware.AnyWrite))
			client := c.Client(p.Attach)
			c.Inject(cluster.Hang().On(operation))
			send(t, client, batch(writes{"orders": {put(item{"pk": str("a")})}}))
			eventually(t, "the server is asked", func() bool { return c.Count(operation) > 0 })
			if len(pluginGoroutines()) == 0 {
				t.Error("no goroutine of the plugin runs; this test cannot see them")
			}

			var closing sync.WaitGroup
			for range 2 {
				closing.Go(func() {
					if err := p.Close(deadline(t)); err != nil {
						t.Errorf("Close: %v", err)
					}
				})
			}
			closing.Wait()
			if err := p.Close(deadline(t)); err != nil {
				t.Errorf("Close again: %v", err)
			}
			checkNoGoroutine(t)
		})
	}
}

// stubborn is an HTTP client that answers batches and whose lookups hang until
// they are released, whatever their context says.
func stubborn(began chan<- struct{}, release <-chan struct{}) httpClientFunc {
	return func(r *http.Request) (*http.Response, error) {
		switch operationOf(r) {
		case "":
			return reply(r, http.StatusOK, `["127.0.0.1"]`), nil
		case "DescribeTable":
			began <- struct{}{}
			<-release
			return nil, errors.New("released")
		}
		return reply(r, http.StatusOK, written), nil
	}
}

func stubbornPlugin(t *testing.T, began chan<- struct{}, release <-chan struct{}) *middleware.Plugin {
	p, err := middleware.New(mode(middleware.AnyWrite), func(o *middleware.Options) { o.Seeds = []string{"http://127.0.0.1:1"} })
	if err != nil {
		t.Fatal(err)
	}
	client := dynamodb.New(clientOptions(stubborn(began, release)), func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }, p.Attach)
	if _, err := client.BatchWriteItem(t.Context(), batch(writes{"orders": {put(item{"pk": str("a")})}})); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCloseHeedsItsContext(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	p := stubbornPlugin(t, began, release)
	await(t, "DescribeTable", began)
	ctx, cancel := context.WithCancelCause(t.Context())
	tired := errors.New("tired of waiting")
	cancel(tired)
	for range 2 {
		if err := p.Close(ctx); !errors.Is(err, tired) {
			t.Errorf("Close returned %v, want %v", err, tired)
		}
	}
	close(release)
	if err := p.Close(deadline(t)); err != nil {
		t.Errorf("Close returned %v when nothing hung any more", err)
	}
	checkNoGoroutine(t)
}

// Without a deadline of the caller's Close waits for 5 s, by a clock that
// nobody waits for.
func TestCloseIsBoundedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, release := make(chan struct{}), make(chan struct{})
		p := stubbornPlugin(t, began, release)
		<-began
		start := time.Now()
		err := p.Close(context.Background())
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("Close took %v, want 5s", took)
		}
		if want := "keyroute: Close: the background work did not stop in time"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Close returned %v, want %q", err, want)
		}
		close(release)
		if err := p.Close(context.Background()); err != nil {
			t.Errorf("Close returned %v when nothing hung any more", err)
		}
	})
}

func TestCloseUnderTraffic(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	createTable(t, c, "unknown", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	client := attach(t, c, p)
	v := newVoter(t, c)

	var running sync.WaitGroup
	stop, flowing := make(chan struct{}), make(chan struct{})
	flows := sync.OnceFunc(func() { close(flowing) })
	for node := range 3 {
		in := batch(writes{"orders": v.puts(node, node), "unknown": v.puts((node + 1) % 3)})
		running.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := client.BatchWriteItem(deadline(t), in); err != nil {
					t.Error(err)
					return
				}
				flows()
			}
		})
	}
	await(t, "traffic", flowing)
	if err := p.Close(deadline(t)); err != nil {
		t.Errorf("Close: %v", err)
	}
	checkNoGoroutine(t)
	close(stop)
	running.Wait()

	// What was known last is still in use, and nothing is asked for any more.
	c.ResetCounts()
	if d := send(t, client, batch(writes{"orders": v.puts(1)})); d.Reason != middleware.ReasonVoted || d.Coordinator != c.Node(1).URL() {
		t.Errorf("after Close a batch went to %s with the reason %v, want %s, %v", d.Coordinator, d.Reason, c.Node(1).URL(), middleware.ReasonVoted)
	}
	if err := p.Refresh(deadline(t)); err == nil {
		t.Error("Refresh worked after Close")
	}
	if got := c.Count(cluster.LocalNodes) + c.Count("DescribeTable"); got != 0 {
		t.Errorf("after Close the cluster was asked %d times for what it is, want none", got)
	}
}

// A plugin that never saw a request has nothing to stop, and closing it before
// its first request does not keep that from being sent.
func TestCloseBeforeTheFirstRequest(t *testing.T) {
	c := cluster.New(t, nodes(2))
	createTable(t, c, "orders", "pk", "S")
	for name, seeds := range map[string][]string{"seeds": c.Seeds(), "no seeds": nil} {
		t.Run(name, func(t *testing.T) {
			p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"), func(o *middleware.Options) { o.Seeds = seeds })
			client := c.Client(p.Attach)
			if err := p.Close(deadline(t)); err != nil {
				t.Fatal(err)
			}
			c.ResetCounts()
			in := batch(writes{"orders": newVoter(t, c).puts(1)})
			want := middleware.Decision{Reason: middleware.ReasonNoNodes, Mode: middleware.AnyWrite}
			if seeds != nil {
				want.Reason, want.Coordinator = middleware.ReasonVoted, c.Node(1).URL()
			}
			if d := send(t, client, in); d.Reason != want.Reason || d.Coordinator != want.Coordinator {
				t.Errorf("a batch went to %q with the reason %v, want %q, %v", d.Coordinator, d.Reason, want.Coordinator, want.Reason)
			}
			if got := c.Count(cluster.LocalNodes); got != 0 {
				t.Errorf("after Close the list of nodes was asked for %d times, want none", got)
			}
			checkNoGoroutine(t)
		})
	}
}
