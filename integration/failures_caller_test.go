package integration

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// TestCallerGivesUp while a node has the request: no further node is tried and
// nobody is blamed.
func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	for name, giveUp := range map[string]func(*scene) (context.Context, context.CancelFunc, error){
		"cancellation": func(s *scene) (context.Context, context.CancelFunc, error) {
			ctx, cancel := context.WithCancel(s.ctx)
			s.Node(1).Before(cancelOn("BatchWriteItem", cancel))
			return ctx, cancel, context.Canceled
		},
		"deadline": func(s *scene) (context.Context, context.CancelFunc, error) {
			ctx, cancel := context.WithTimeout(s.ctx, time.Second)
			return ctx, cancel, context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount()
			s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a), downAtOnce,
				func(o *middleware.Options) { o.AttemptTimeout = patience })
			s.Record(true)
			s.Node(1).Inject(cluster.Hang().On("BatchWriteItem"))
			ctx, cancel, want := giveUp(s)
			defer cancel()
			_, err := s.client.BatchWriteItem(ctx, s.writeTo(1))
			if !errors.Is(err, want) {
				t.Errorf("error is %v, want %v", err, want)
			}
			if got := coordinatorError(t, err); got.Coordinator != s.Node(1).URL() || got.Attempt != 1 {
				t.Errorf("the error is of %s and attempt %d, want node 1 and attempt 1", got.Coordinator, got.Attempt)
			}
			wantEqual(t, "nodes that were asked", asked(s.Cluster, "BatchWriteItem"), []int{1})
			s.wantWell(0, 1, 2)
			a.want(t, 1)
			s.heal(1)
			s.Node(1).Before(nil)
			s.want(s.write(1), 1, 1)
		})
	}
}

// TestCallerGivesUpBeforehand makes a call that ended before it began.
func TestCallerGivesUpBeforehand(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3, downAtOnce)
	s.Record(true)
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	_, err := s.client.BatchWriteItem(ctx, s.writeTo(1))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that of the context", err)
	}
	wantEqual(t, "nodes that were asked", asked(s.Cluster, "BatchWriteItem"), nil)
	s.wantWell(0, 1, 2)
}

// TestCallerGivesUpDuringBackOff is about calls that wait for a retry.
func TestCallerGivesUpDuringBackOff(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(*scene){
		"after throttling": func(s *scene) {
			s.Inject(cluster.Answer(400, "RequestLimitExceeded", "too many in-flight requests"))
		},
		"after a server error": func(s *scene) { s.Inject(cluster.Answer(500, "InternalServerError", "oops")) },
		"with all nodes down":  func(s *scene) { s.refuse(0, 1, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
				a := newAccount()
				s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a))
				s.Record(true)
				trouble(s)
				// A context whose end is an event, whatever it is due to.
				ctx := &endingContext{Context: s.ctx, done: make(chan struct{})}
				a.delay = time.Hour
				a.onDelay = func() { ctx.end(want) }
				_, err := s.client.BatchWriteItem(ctx, s.writeTo(1))
				if !errors.Is(err, want) {
					t.Errorf("error is %v, want %v", err, want)
				}
				if _, ok := errors.AsType[*aws.RequestCanceledError](err); !ok {
					t.Errorf("%v is not the SDK's own", err)
				}
				if got := len(asked(s.Cluster, "BatchWriteItem")); got > 1 {
					t.Errorf("%d nodes were asked after one another", got)
				}
				a.mu.Lock()
				// Not always the first: a connection that died with its node may
				// have cost a free one.
				if len(a.delays) != 1 {
					t.Errorf("back-off behind the attempts %v, want one", a.delays)
				}
				a.mu.Unlock()
			}
		})
	}
}

// endingContext ends when it is told to.
type endingContext struct {
	context.Context
	done chan struct{}
	err  error // set before done is closed
}

func (c *endingContext) end(err error) {
	c.err = err
	close(c.done)
}

func (c *endingContext) Done() <-chan struct{} { return c.done }

func (c *endingContext) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}
