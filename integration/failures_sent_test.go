package integration

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// impatientAttempts is an option for a plugin that waits for an answer for as
// long as a node that is well never takes, however busy the machine is.
func impatientAttempts(o *middleware.Options) { o.AttemptTimeout = time.Second }

// TestNodeHangsUpAfterTheRequest is about nodes that read a request and give no
// answer: the next coordinator is tried at once, which is an attempt of the SDK
// but takes no token.
func TestNodeHangsUpAfterTheRequest(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]cluster.Fault{
		"reset":              cluster.ResetAfterRequest(),
		"close":              cluster.CloseAfterRequest(),
		"reset mid-response": cluster.ResetMidResponse(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount()
			s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a))
			s.Node(1).Inject(fault.On("BatchWriteItem"))
			s.want(s.write(1), 2, s.order(1)[:2]...)
			a.want(t, 2)
			s.wantWell(0, 2)
			s.want(s.whileSuspected(1), 1, s.order(1)[1])
		})
	}
}

// TestTwoNodesHangUpAfterTheRequest has a call use the three attempts that its
// Retryer allows.
func TestTwoNodesHangUpAfterTheRequest(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(4)), withRetryer(a), downAtOnce)
	order := s.order(2)
	s.Node(order[0]).Inject(cluster.ResetAfterRequest().On("BatchWriteItem"))
	s.Node(order[1]).Inject(cluster.CloseAfterRequest().On("BatchWriteItem"))
	s.want(s.write(2), 3, order[:3]...)
	a.want(t, 3)
	s.wantDown(order[:2]...)
	s.wantWell(order[2:]...)
}

// TestAllNodesHangUpAfterTheRequest is the end of free attempts: what follows
// when all were tried is up to the user's Retryer.
func TestAllNodesHangUpAfterTheRequest(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(2)), withRetryer(a))
	s.Record(true)
	s.Inject(cluster.ResetAfterRequest().On("BatchWriteItem"))
	_, err := s.client.BatchWriteItem(s.ctx, s.writeTo(1))
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error is %v, want that of a reset connection", err)
	}
	// Both are suspected, so the third attempt is in the order of the plan.
	wantEqual(t, "nodes that were asked", asked(s.Cluster, "BatchWriteItem"), []int{1, 0, 1})
	a.want(t, 3, 2)
}

// TestManyWritesToANodeThatResets would use up any quota.
func TestManyWritesToANodeThatResets(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a), healthOff)
	s.Node(1).Inject(cluster.ResetAfterRequest().On("BatchWriteItem"))
	for range 200 {
		s.want(s.write(1), 2, s.order(1)[:2]...)
	}
	a.want(t, 400)
}

// TestServerClosedAKeptAliveConnection may have the client send a request on a
// connection whose end it has not noticed yet.
func TestServerClosedAKeptAliveConnection(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a), healthOff)
	for range 200 {
		s.write(1)
		s.Node(1).CloseIdle()
		if o := s.write(1); o.attempts > 2 || len(o.tried) > 2 {
			t.Fatalf("nodes %v were tried in %d attempts", o.tried, o.attempts)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.retryTokens != 0 || len(a.delays) != 0 {
		t.Errorf("%d tokens were taken, back-off behind attempts %v", a.retryTokens, a.delays)
	}
}

func TestNodeHangs(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a), impatientAttempts, eagerProbes)
	order := s.order(1)
	s.Node(1).Inject(cluster.Hang())
	s.want(s.write(1), 2, order[:2]...)
	a.want(t, 2)
	s.wantWell(0, 2)
	s.want(s.whileSuspected(1), 1, order[1])
	s.want(s.whileSuspected(1), 1, order[1])

	s.heal(1)
	eventually(t, "the node that hung gets its keys back", func() bool {
		o := s.write(1)
		return o.attempts == 1 && len(o.tried) == 1 && o.tried[0] == 1
	})
	s.want(s.write(1), 1, 1)
	s.wantWell(0, 1, 2)
}

// TestNodeHangsWithNopRetryer has no attempt left when one timed out.
func TestNodeHangsWithNopRetryer(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(aws.NopRetryer{}), impatientAttempts)
	s.Record(true)
	s.Node(2).Inject(cluster.Hang().On("BatchWriteItem"))
	_, err := s.client.BatchWriteItem(s.ctx, s.writeTo(2))
	coordinator, ok := errors.AsType[*middleware.CoordinatorError](err)
	if !ok || coordinator.Coordinator != s.Node(2).URL() {
		t.Errorf("%v does not name node 2", err)
	}
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); !ok || !timeout.Timeout() {
		t.Errorf("%v is no timeout", err)
	}
	wantEqual(t, "nodes that were asked", asked(s.Cluster, "BatchWriteItem"), []int{2})
	s.want(s.whileSuspected(2), 1, s.order(2)[1])
}

// TestNoResend is about writes that must not be carried out twice: what may
// have been sent is not sent again, what was not is sent to the next.
func TestNoResend(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]cluster.Fault{
		"reset":              cluster.ResetAfterRequest(),
		"close":              cluster.CloseAfterRequest(),
		"reset mid-response": cluster.ResetMidResponse(),
		"hang":               cluster.Hang(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount()
			s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a), impatientAttempts, downAtOnce,
				func(o *middleware.Options) { o.NoResend = true })
			s.Record(true)
			s.refuse(1)
			next := s.order(1)[1]
			s.Node(next).Inject(fault.On("BatchWriteItem"))
			_, err := s.client.BatchWriteItem(s.ctx, s.writeTo(1))
			coordinator, ok := errors.AsType[*middleware.CoordinatorError](err)
			if !ok || coordinator.Coordinator != s.Node(next).URL() || coordinator.Attempt != 1 {
				t.Errorf("%v is not the error of node %d in the first attempt", err, next)
			}
			wantEqual(t, "nodes that were asked", asked(s.Cluster, "BatchWriteItem"), []int{next})
			a.want(t, 1)
			s.wantDown(1, next)
			s.wantWell(s.order(1)[2])
		})
	}
}

// TestNoResendHoldsForARetryerPerCall: one of the SDK's, which knows nothing of
// the plugin, asks the error.
func TestNoResendHoldsForARetryerPerCall(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(newAccount()), func(o *middleware.Options) { o.NoResend = true })
	s.Record(true)
	s.Node(1).Inject(cluster.ResetAfterRequest().On("BatchWriteItem"))
	_, err := s.client.BatchWriteItem(s.ctx, s.writeTo(1), impatient(5))
	if _, ok := errors.AsType[*middleware.CoordinatorError](err); !ok || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v is not that of the connection", err)
	}
	wantEqual(t, "nodes that were asked", asked(s.Cluster, "BatchWriteItem"), []int{1})
}

// TestNoResendRetriesAnswers: a node that answers did not carry the request out.
func TestNoResendRetriesAnswers(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a), func(o *middleware.Options) { o.NoResend = true })
	s.Node(1).Inject(cluster.Answer(400, "RequestLimitExceeded", "too many in-flight requests"))
	s.want(s.write(1), 2, s.order(1)[:2]...)
	a.want(t, 2, 1)
}

// TestSuspicionInTheOrdinaryPlan: requests without affinity pass a suspected
// node over, too.
func TestSuspicionInTheOrdinaryPlan(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3)
	s.Node(1).Inject(cluster.ResetAfterRequest().On("BatchWriteItem"))
	s.write(1)
	for range 50 {
		started, left := time.Now(), s.health()[1].SuspectedFor
		out, err := s.client.ListTables(s.ctx, &dynamodb.ListTablesInput{})
		if err != nil {
			t.Fatal(err)
		}
		if d := decision(t, out.ResultMetadata); d.Coordinator == s.Node(1).URL() && time.Since(started) < left {
			t.Fatal("a read went to a node that is suspected")
		}
	}
	if state := s.health()[1].State; state != discovery.Active {
		t.Errorf("the node is %v after one failure, want it active", state)
	}
}
