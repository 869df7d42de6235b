package middleware

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"net/url"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/keyroute/keyroute/resolver"
)

// errCanceled is what the SDK makes of a request whose context was canceled.
var errCanceled = &smithy.CanceledError{Err: context.Canceled}

// progress is what an HTTP client tells of a request.
type progress string

const (
	wantsConnection progress = "wants a connection"
	looksUpName     progress = "looks up the name"
	dials           progress = "dials"
	hasConnection   progress = "has a connection"
)

// begin begins a try of a node whose host is a name.
func begin(ctx context.Context, o *Options, untried bool) (context.Context, *try) {
	node, err := resolver.ParseNode("http://node.example.com:8000")
	if err != nil {
		panic(err)
	}
	t := new(try)
	return t.begin(ctx, o, node, untried), t
}

// tell tells the trace in a context of progress, as net/http does.
func tell(ctx context.Context, steps ...progress) {
	trace := httptrace.ContextClientTrace(ctx)
	for _, p := range steps {
		switch p {
		case wantsConnection:
			trace.GetConn("10.0.0.1:8000")
		case looksUpName:
			trace.DNSStart(httptrace.DNSStartInfo{Host: "node-1"})
		case dials:
			trace.ConnectStart("tcp", "10.0.0.1:8000")
		case hasConnection:
			trace.GotConn(httptrace.GotConnInfo{})
		}
	}
}

// TestTryTimes says when the time of a request is over that does nothing after
// its last step, and what is to be thought of it then.
func TestTryTimes(t *testing.T) {
	const never = time.Duration(-1)
	type step struct {
		after time.Duration
		progress
	}
	for name, test := range map[string]struct {
		connect, attempt time.Duration
		untried          bool
		steps            []step
		over             time.Duration // from the beginning
		text             string
		nothingSent      bool
		blameless        bool
	}{
		"no bounds":                   {-1, 0, true, []step{{0, wantsConnection}, {0, dials}}, never, "", true, false},
		"no connection":               {time.Second, 0, true, []step{{0, wantsConnection}, {0, dials}}, time.Second, "no connection within 1s", true, false},
		"no connection, none untried": {time.Second, 0, false, []step{{0, wantsConnection}, {0, dials}}, never, "", true, false},
		"dials late":                  {time.Second, 0, true, []step{{0, wantsConnection}, {5 * time.Second, dials}}, 6 * time.Second, "no connection within 1s", true, false},
		"dials twice":                 {time.Second, 0, true, []step{{0, dials}, {500 * time.Millisecond, dials}}, time.Second, "no connection within 1s", false, false},
		"connected in time":           {time.Second, 0, true, []step{{0, wantsConnection}, {0, dials}, {999 * time.Millisecond, hasConnection}}, never, "", false, false},
		"kept-alive connection":       {time.Second, 0, true, []step{{0, wantsConnection}, {0, hasConnection}}, never, "", false, false},
		"dials for another request":   {time.Second, 0, true, []step{{0, wantsConnection}, {0, hasConnection}, {0, dials}}, never, "", false, false},

		"no answer":                  {time.Second, 5 * time.Second, true, []step{{0, wantsConnection}, {0, hasConnection}}, 5 * time.Second, "no answer within 5s", false, false},
		"no answer, dialled":         {time.Second, 5 * time.Second, true, []step{{0, wantsConnection}, {0, dials}, {500 * time.Millisecond, hasConnection}}, 5 * time.Second, "no answer within 5s", false, false},
		"no connection at all":       {-1, 5 * time.Second, true, []step{{0, wantsConnection}, {0, dials}}, 5 * time.Second, "no answer within 5s", true, false},
		"no name":                    {-1, 5 * time.Second, true, []step{{0, wantsConnection}, {0, looksUpName}}, 5 * time.Second, "no answer within 5s", true, false},
		"no turn":                    {time.Second, 5 * time.Second, true, []step{{0, wantsConnection}}, 5 * time.Second, "no answer within 5s", true, true},
		"turn comes late":            {time.Second, 5 * time.Second, true, []step{{0, wantsConnection}, {4 * time.Second, hasConnection}}, 9 * time.Second, "no answer within 5s", false, false},
		"turn to dial comes late":    {-1, 5 * time.Second, true, []step{{0, wantsConnection}, {4 * time.Second, dials}, {3 * time.Second, hasConnection}}, 9 * time.Second, "no answer within 5s", false, false},
		"client tells nothing":       {time.Second, 5 * time.Second, true, nil, 5 * time.Second, "no answer within 5s", false, false},
		"client tells of no waiting": {-1, 5 * time.Second, true, []step{{0, dials}}, 5 * time.Second, "no answer within 5s", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, try := begin(t.Context(), &Options{ConnectTimeout: test.connect, AttemptTimeout: test.attempt}, test.untried)
				for _, s := range test.steps {
					time.Sleep(s.after)
					tell(ctx, s.progress)
				}
				over := never
				select {
				case <-ctx.Done():
					over = time.Since(began)
				case <-time.After(time.Hour):
				}
				if over != test.over {
					t.Errorf("the time was over after %v, want %v", over, test.over)
				}
				err := try.explain(ctx, errCanceled)
				try.end()
				if test.over == never {
					if !errors.Is(err, context.Canceled) {
						t.Errorf("error is %v, want it as it was", err)
					}
					err = &net.OpError{Op: "read", Err: syscall.ECONNRESET}
				} else if want := "keyroute: " + test.text; err.Error() != want || errors.Is(err, context.Canceled) {
					t.Errorf("error is %v, want %s", err, want)
				}
				if got := try.nothingSent(err); got != test.nothingSent {
					t.Errorf("nothing was sent: %v, want %v", got, test.nothingSent)
				}
				if got := try.blameless(err); got != test.blameless {
					t.Errorf("blameless: %v, want %v", got, test.blameless)
				}
			})
		})
	}
}

// TestTryThatIsOver is told of a connection that net/http went on to make.
func TestTryThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, try := begin(t.Context(), &Options{ConnectTimeout: time.Second, AttemptTimeout: time.Minute}, true)
		try.end()
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Errorf("the context of a try that is over ends with %v", context.Cause(ctx))
		}
		tell(ctx, looksUpName, dials, hasConnection)
		if try.connect != nil || try.attempt.Stop() {
			t.Error("a timer of a try that is over runs")
		}
		try.end() // once more changes nothing
	})
}

// TestTryOfACallerThatGaveUp keeps the caller's reason.
func TestTryOfACallerThatGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(t.Context())
		ctx, try := begin(parent, &Options{ConnectTimeout: time.Second, AttemptTimeout: time.Minute}, true)
		defer try.end()
		tell(ctx, wantsConnection, dials)
		cancel()
		time.Sleep(time.Hour)
		if err := try.explain(ctx, errCanceled); !errors.Is(err, errCanceled) {
			t.Errorf("error is %v, want that of the caller", err)
		}
	})
}

// TestAnswerAsTimeIsUp: an answer is one even if the time is over by the time
// that it is looked at.
func TestAnswerAsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, try := begin(t.Context(), &Options{AttemptTimeout: time.Second}, true)
		defer try.end()
		tell(ctx, wantsConnection, hasConnection)
		<-ctx.Done()
		answer := &smithy.OperationError{Err: &smithy.GenericAPIError{Code: "ConditionalCheckFailedException"}}
		if err := try.explain(ctx, answer); !errors.Is(err, answer) {
			t.Errorf("the answer became %v", err)
		}
		if err := try.explain(ctx, nil); err != nil {
			t.Errorf("success became %v", err)
		}
		broken := &smithy.DeserializationError{Err: context.Canceled}
		if err := try.explain(ctx, broken); errors.Is(err, broken) || !gaveNoAnswer(err) {
			t.Errorf("half an answer became %v, want a timeout", err)
		}
	})
}

// sendError is what the SDK makes of an error of the HTTP client.
func sendError(err error) error {
	return &smithy.OperationError{Err: &smithyhttp.RequestSendError{
		Err: &url.Error{Op: "Post", URL: "http://node-1", Err: err}}}
}

// TestNothingSent is about what errors tell by their type, with a client that
// traces and had a connection, with one that traces and had none, and with one
// that does not trace.
func TestNothingSent(t *testing.T) {
	for name, test := range map[string]struct {
		err                       error
		connected, none, untraced bool
	}{
		"refused":                {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, false, true, true},
		"no name":                {&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}, false, true, true},
		"no name, of a resolver": {&net.DNSError{IsTimeout: true}, false, true, true},
		"not TLS":                {tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, false, true, true},
		"another's certificate":  {&tls.CertificateVerificationError{Err: x509.HostnameError{}}, false, true, true},
		"EOF":                    {io.EOF, false, true, false},
		"reset":                  {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, false, true, false},
		"broken pipe":            {&net.OpError{Op: "write", Err: syscall.EPIPE}, true, true, true},
		"broken pipe, long body": {&net.OpError{Op: "readfrom", Err: &net.OpError{Op: "write", Err: syscall.EPIPE}}, true, true, true},
		"timeout":                {&timeoutError{}, false, true, false},
	} {
		for client, want := range map[string]bool{"connected": test.connected, "without connection": test.none, "untraced": test.untraced} {
			ctx, try := begin(t.Context(), &Options{}, true)
			switch client {
			case "connected":
				tell(ctx, wantsConnection, dials, hasConnection)
			case "without connection":
				tell(ctx, wantsConnection, dials)
			}
			if got := try.nothingSent(sendError(test.err)); got != want {
				t.Errorf("%s, %s: nothing was sent: %v, want %v", name, client, got, want)
			}
			try.end()
		}
	}
}

// TestBlameless is about a request that waits for its turn and ends.
func TestBlameless(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"its own timeout":             {&timeoutError{}, true},
		"timeout of the HTTP client":  {sendError(context.DeadlineExceeded), true},
		"dialler that does not trace": {sendError(&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}), false},
		"another error":               {sendError(errors.New("the tunnel is closed")), false},
	} {
		ctx, try := begin(t.Context(), &Options{}, true)
		tell(ctx, wantsConnection)
		if got := try.blameless(test.err); got != test.want {
			t.Errorf("%s: blameless: %v, want %v", name, got, test.want)
		}
		for _, p := range []progress{looksUpName, dials, hasConnection} {
			ctx, try := begin(t.Context(), &Options{}, true)
			tell(ctx, wantsConnection, p)
			if try.blameless(test.err) {
				t.Errorf("%s: a node is not blamed although the request %s", name, p)
			}
			try.end()
		}
		try.end()
	}
}

func TestGaveNoAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"refused":              {sendError(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), true},
		"EOF":                  {sendError(io.EOF), true},
		"whatever the client":  {sendError(errors.New("the tunnel is closed")), true},
		"timeout":              {&timeoutError{}, true},
		"reset in an answer":   {&smithy.DeserializationError{Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, true},
		"end in an answer":     {&smithy.DeserializationError{Err: io.ErrUnexpectedEOF}, true},
		"timeout in an answer": {&smithy.DeserializationError{Err: context.DeadlineExceeded}, true},
		"error":                {&smithy.GenericAPIError{Code: "ValidationException"}, false},
		"no JSON":              {&smithy.DeserializationError{Err: errors.New("invalid character '<'")}, false},
		"no signature":         {fmt.Errorf("failed to sign http request, %w", errors.New("no credentials")), false},
	} {
		if got := gaveNoAnswer(test.err); got != test.want {
			t.Errorf("%s: no answer: %v, want %v", name, got, test.want)
		}
	}
}

func TestConnectTimeoutLeavesTimeForAnotherCoordinator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			option, left, want time.Duration
		}{
			{time.Second, 0, time.Second},
			{time.Second, time.Minute, time.Second},
			{time.Second, 2 * time.Second, time.Second},
			{time.Second, 300 * time.Millisecond, 150 * time.Millisecond},
			{time.Second, 60 * time.Millisecond, minConnectTimeout},
			{20 * time.Millisecond, 60 * time.Millisecond, 20 * time.Millisecond},
			{-1, 300 * time.Millisecond, 0},
		} {
			ctx := t.Context()
			if c.left > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.left)
				defer cancel()
			}
			if got := connectTimeout(ctx, &Options{ConnectTimeout: c.option}); got != c.want {
				t.Errorf("option %v, %v left: %v, want %v", c.option, c.left, got, c.want)
			}
		}
	})
}
