package middleware

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/keyroute/keyroute/discovery"
)

// A stub is the rest of the SDK's stack, down to the node.
type stub struct {
	answers []func(ctx context.Context, req *smithyhttp.Request) (status int, err error)
	asked   []string // hosts
	bodies  []string
}

// HandleFinalize implements middleware.FinalizeHandler.
func (s *stub) HandleFinalize(ctx context.Context, in middleware.FinalizeInput) (
	out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
) {
	req := in.Request.(*smithyhttp.Request)
	s.asked = append(s.asked, req.URL.Hostname())
	body, _ := io.ReadAll(req.GetStream())
	s.bodies = append(s.bodies, string(body))
	req.Header.Set("Authorization", "of "+req.URL.Hostname())
	status, err := s.answers[len(s.asked)-1](ctx, req)
	if status != 0 {
		metadata = rawResponse(ctx, status)
	}
	return out, metadata, err
}

// rawResponse is the metadata of an answer, as the SDK leaves it.
func rawResponse(ctx context.Context, status int) middleware.Metadata {
	_, metadata, _ := awsmiddleware.AddRawResponse{}.HandleDeserialize(ctx, middleware.DeserializeInput{},
		middleware.DeserializeHandlerFunc(func(context.Context, middleware.DeserializeInput) (middleware.DeserializeOutput, middleware.Metadata, error) {
			return middleware.DeserializeOutput{RawResponse: &smithyhttp.Response{
				Response: &http.Response{StatusCode: status}}}, middleware.Metadata{}, nil
		}))
	return metadata
}

func answering(status int, err error) func(context.Context, *smithyhttp.Request) (int, error) {
	return func(context.Context, *smithyhttp.Request) (int, error) { return status, err }
}

// refusing is a node that nobody listens on.
func refusing(ctx context.Context, _ *smithyhttp.Request) (int, error) {
	tell(ctx, wantsConnection, dials)
	return 0, sendError(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
}

// resetting is a node that reads a request and hangs up.
func resetting(ctx context.Context, _ *smithyhttp.Request) (int, error) {
	tell(ctx, wantsConnection, dials, hasConnection)
	return 0, sendError(&net.OpError{Op: "read", Err: syscall.ECONNRESET})
}

// A sender is a request of a client of three nodes that are active and go down
// at the first failure.
type sender struct {
	*request
	*stub
	order []string // hosts in the order of the plan
}

func newSender(t *testing.T, answers ...func(context.Context, *smithyhttp.Request) (int, error)) *sender {
	t.Helper()
	p, err := New(func(o *Options) {
		o.Seeds = []string{"http://seed-0:8000", "http://seed-1:8000", "http://seed-2:8000"}
		o.Health.ActiveFailures, o.Health.QuarantinePromotion = 1, 1
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &sender{request: &request{plugin: p}, stub: &stub{answers: answers}}
	s.makePlan()
	s.plan.PreferKey(s.view.Ring, 1)
	for i := range s.plan.Len() {
		m := s.view.Member(s.plan.At(i))
		m.Observe(discovery.TrafficSuccess, m.Generation())
		s.order = append(s.order, hostOf(m.Node()))
	}
	return s
}

func (s *sender) attempt(ctx context.Context, t *testing.T, body io.Reader) error {
	t.Helper()
	req, err := smithyhttp.NewStackRequest().(*smithyhttp.Request).SetStream(body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "of nobody")
	s.attempts++
	_, _, err = s.send(ctx, req, s.stub)
	return err
}

// states are those of the nodes in the order of the plan.
func (s *sender) states() []discovery.State {
	var list []discovery.State
	for i := range s.plan.Len() {
		list = append(list, s.view.Member(s.plan.At(i)).State())
	}
	return list
}

func (s *sender) want(t *testing.T, asked int, states ...discovery.State) {
	t.Helper()
	if !slices.Equal(s.asked, s.order[:asked]) {
		t.Errorf("asked %v, want the first %d of %v", s.asked, asked, s.order)
	}
	for i, body := range s.bodies {
		if body != "body" {
			t.Errorf("%s was sent %q", s.asked[i], body)
		}
	}
	if got := s.states(); !slices.Equal(got, states) {
		t.Errorf("the nodes are %v, want %v", got, states)
	}
}

func body() io.Reader { return strings.NewReader("body") }

func TestSendMovesOnWhileNothingWasSent(t *testing.T) {
	checkAuthorization := func(_ context.Context, req *smithyhttp.Request) (int, error) {
		if got := req.Header.Values("Authorization"); len(got) != 1 || got[0] != "of "+req.URL.Hostname() {
			t.Errorf("the request to %s is authorized as %q", req.URL.Hostname(), got)
		}
		return http.StatusOK, nil
	}
	s := newSender(t, refusing, refusing, checkAuthorization)
	if err := s.attempt(t.Context(), t, body()); err != nil {
		t.Error(err)
	}
	s.want(t, 3, discovery.Down, discovery.Down, discovery.Active)
}

func TestSendEndsWhenAllWereTried(t *testing.T) {
	s := newSender(t, refusing, refusing, refusing)
	err := s.attempt(t.Context(), t, body())
	var e *CoordinatorError
	if !errors.As(err, &e) || e.Coordinator != "http://"+s.order[2]+":8000" || e.Attempt != 1 || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error is %v, want that of the last node", err)
	}
	if failsOver(err) || isFinal(err) {
		t.Error("what follows is not up to the user")
	}
	s.want(t, 3, discovery.Down, discovery.Down, discovery.Down)
}

func TestSendLeavesTheNextAttemptToTheSDK(t *testing.T) {
	s := newSender(t, resetting, resetting, resetting)
	for i, free := range []bool{true, true, false} {
		err := s.attempt(t.Context(), t, body())
		var e *CoordinatorError
		if !errors.As(err, &e) || e.Attempt != i+1 || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("error is %v, want that of attempt %d", err, i+1)
		}
		if failsOver(err) != free || isFinal(err) {
			t.Errorf("attempt %d: the next one is free: %v, want %v", i+1, failsOver(err), free)
		}
	}
	s.want(t, 3, discovery.Down, discovery.Down, discovery.Down)
}

func TestSendDoesNotResend(t *testing.T) {
	s := newSender(t, refusing, resetting)
	s.plugin.options.NoResend = true
	if err := s.attempt(t.Context(), t, body()); !isFinal(err) || failsOver(err) {
		t.Errorf("%v is not the end", err)
	}
	s.want(t, 2, discovery.Down, discovery.Down, discovery.Active)
}

// TestSendOfWhatFailsBeforehand is about errors that no node has to do with.
func TestSendOfWhatFailsBeforehand(t *testing.T) {
	cause := errors.New("no credentials")
	s := newSender(t, answering(0, cause))
	err := s.attempt(t.Context(), t, body())
	if !errors.Is(err, cause) || failsOver(err) || isFinal(err) {
		t.Errorf("error is %v, want that of the SDK", err)
	}
	s.want(t, 1, discovery.Active, discovery.Active, discovery.Active)
}

func TestSendOfABodyThatCannotBeRewound(t *testing.T) {
	s := newSender(t, refusing)
	err := s.attempt(t.Context(), t, io.MultiReader(body()))
	if !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), "not seekable") {
		t.Errorf("error is %v, want both what the node did and why it ended", err)
	}
	s.want(t, 1, discovery.Down, discovery.Active, discovery.Active)
}

// TestSendForACallerThatGivesUp is about a caller who gives up while a node
// fails in some way of its own, or answers.
func TestSendForACallerThatGivesUp(t *testing.T) {
	answer := &smithy.GenericAPIError{Code: "ValidationException"}
	for name, test := range map[string]struct {
		node func(context.Context, *smithyhttp.Request) (int, error)
		want error // found beside the caller's
	}{
		"refused":  {refusing, syscall.ECONNREFUSED},
		"reset":    {resetting, syscall.ECONNRESET},
		"canceled": {answering(0, &smithy.CanceledError{Err: context.Canceled}), context.Canceled},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := newSender(t, func(ctx context.Context, req *smithyhttp.Request) (int, error) {
			cancel()
			return test.node(ctx, req)
		})
		err := s.attempt(ctx, t, body())
		if !errors.Is(err, context.Canceled) || !errors.Is(err, test.want) {
			t.Errorf("%s: error is %v, want context.Canceled and %v", name, err, test.want)
		}
		var canceled *smithy.CanceledError
		if !errors.As(err, &canceled) {
			t.Errorf("%s: the SDK does not see that %v is the caller's own", name, err)
		}
		s.want(t, 1, discovery.Active, discovery.Active, discovery.Active)
	}

	ctx, cancel := context.WithCancel(t.Context())
	s := newSender(t, func(context.Context, *smithyhttp.Request) (int, error) {
		cancel()
		return http.StatusBadRequest, answer
	})
	if err := s.attempt(ctx, t, body()); !errors.Is(err, answer) || errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want the answer", err)
	}
}

func TestOutcomeOfAnAnswer(t *testing.T) {
	for status, want := range map[int]discovery.Outcome{
		0:   discovery.Neutral,
		200: discovery.TrafficSuccess,
		307: discovery.TrafficSuccess,
		400: discovery.TrafficSuccess,
		403: discovery.TrafficSuccess,
		413: discovery.TrafficSuccess,
		429: discovery.TrafficSuccess,
		500: discovery.Neutral,
		501: discovery.TrafficSuccess,
		502: discovery.Neutral,
		503: discovery.Neutral,
		504: discovery.Neutral,
	} {
		if got := outcomeOf(status); got != want {
			t.Errorf("%d is %v, want %v", status, got, want)
		}
		if got := statusOf(rawResponse(t.Context(), status)); got != status {
			t.Errorf("the status of an answer is %d, want %d", got, status)
		}
	}
	if got := statusOf(middleware.Metadata{}); got != 0 {
		t.Errorf("the status of no answer is %d", got)
	}
}

// TestSendReportsAnswers has a quarantined node answer: only what is not
// neutral makes it active.
func TestSendReportsAnswers(t *testing.T) {
	for status, want := range map[int]discovery.State{
		200: discovery.Active, 400: discovery.Active, 413: discovery.Active,
		500: discovery.Quarantined, 502: discovery.Quarantined, 503: discovery.Quarantined, 504: discovery.Quarantined,
	} {
		var err error
		if status != http.StatusOK {
			err = &smithy.GenericAPIError{Code: "Whatever"}
		}
		s := newSender(t, answering(status, err))
		first := s.view.Member(s.plan.At(0))
		first.Observe(discovery.TrafficFailure, first.Generation())
		for range 3 {
			first.Observe(discovery.ProbeSuccess, first.Generation())
		}
		for i := 1; i < 3; i++ { // so that it is the first to be tried
			m := s.view.Member(s.plan.At(i))
			m.Observe(discovery.TrafficFailure, m.Generation())
		}
		if got := s.attempt(t.Context(), t, body()); !errors.Is(got, err) {
			t.Errorf("%d: error is %v", status, got)
		}
		if got := first.State(); got != want {
			t.Errorf("a quarantined node that answers %d is %v, want %v", status, got, want)
		}
		if !s.walk.answered {
			t.Errorf("%d is not an answer", status)
		}
	}
}
