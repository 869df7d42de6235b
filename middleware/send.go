package middleware

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/keyroute/keyroute/discovery"
)

// send sends an attempt to the next node of the walk. While a node could not be
// reached, so that nothing was sent, or not all of it, it goes on to the node
// after that: this is safe for every operation and no matter of the SDK's
// attempts, retry tokens and back-off. It ends when a node was reached or each
// was tried once.
func (r *request) send(ctx context.Context, req *smithyhttp.Request, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	for t := r.newTry(); ; t = r.newTry() {
		m := r.walk.next()
		generation := m.Generation()
		pointAt(req, m)
		r.plugin.telemetry.Load().recordTry(ctx, r, m.Node().String())
		tryCtx := t.begin(ctx, &r.plugin.options, m.Node(), r.walk.left() > 0)
		out, metadata, err := next.HandleFinalize(tryCtx, middleware.FinalizeInput{Request: req})
		err = t.explain(tryCtx, err)
		t.end()
		if err == nil {
			r.answered(m, metadata, generation)
			return out, metadata, nil
		}
		failure := newCoordinatorError(m.Node(), r.attempts, err)
		switch {
		case ctx.Err() != nil: // the caller gave up, nobody is to blame
			failure.Err = givenUp(ctx, err)
			return out, metadata, failure
		case !gaveNoAnswer(err):
			r.answered(m, metadata, generation)
			return out, metadata, failure
		}
		nothingSent := t.nothingSent(err)
		final := !nothingSent && r.plugin.options.NoResend
		if final {
			failure.Err = unrepeatable{err}
		}
		failure.failover = !final && r.walk.left() > 0
		if !t.blameless(err) {
			r.nodes.Report(m, discovery.TrafficFailure, generation)
		}
		if !nothingSent || r.walk.left() == 0 {
			return out, metadata, failure
		}
		if rewind := req.RewindStream(); rewind != nil {
			return out, metadata, fmt.Errorf("keyroute: rewinding the request for another coordinator: %w", errors.Join(rewind, failure))
		}
	}
}

// newTry returns a try that was not used before. The first one of a request,
// which nearly always is the only one, is a part of it.
func (r *request) newTry() *try {
	if !r.firstTry.used {
		return &r.firstTry
	}
	return new(try)
}

// answered takes note of an answer, which may be an error.
func (r *request) answered(m *discovery.Member, metadata middleware.Metadata, generation uint64) {
	status := statusOf(metadata)
	if status != 0 {
		r.walk.answered = true
	}
	r.nodes.Report(m, outcomeOf(status), generation)
}

// pointAt makes a node the one that the request is sent to and signed for.
func pointAt(req *smithyhttp.Request, m *discovery.Member) {
	node := m.Node()
	req.URL.Scheme = node.Scheme()
	req.URL.Host = node.Host()
	// Left empty, as the SDK leaves it: the signature and the Host header are
	// made of the URL then. A host that is set here is checked by smithy-go,
	// which refuses IPv6 addresses and underscores.
	req.Host = ""
}

// statusOf returns the HTTP status of the answer, or 0.
func statusOf(metadata middleware.Metadata) int {
	if response, ok := awsmiddleware.GetRawResponse(metadata).(*smithyhttp.Response); ok && response.Response != nil {
		return response.StatusCode
	}
	return 0
}

// outcomeOf tells what an answer says about the node's health. Alternator
// answers 500 when replicas it depends on do not; a proxy before it answers the
// others when it does not get through.
func outcomeOf(status int) discovery.Outcome {
	switch status {
	case 0, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return discovery.Neutral
	}
	return discovery.TrafficSuccess
}

// gaveNoAnswer reports whether err means that the node did not answer, or not
// to the end. Errors that arise before the request is on its way, as when it
// cannot be signed, are nobody's fault.
func gaveNoAnswer(err error) bool {
	var timeout *timeoutError
	var send *smithyhttp.RequestSendError
	switch {
	case errors.As(err, &timeout), errors.As(err, &send):
		return true
	}
	// The answer began, and broke off while it was read.
	var network net.Error
	return errors.As(err, &network) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET)
}

// givenUp returns the error of a request whose caller gave up: an answer that
// came all the same, and else one that tells so, whatever the request met with
// last, so that it is not made again.
func givenUp(ctx context.Context, err error) error {
	if errors.Is(err, ctx.Err()) || !gaveNoAnswer(err) {
		return err
	}
	return &smithy.CanceledError{Err: fmt.Errorf("%w: %w", ctx.Err(), err)}
}

// isWriteError reports whether err arose while something was written, as on a
// kept-alive connection that the node had closed. If that was the request, it
// was not written whole and cannot have been carried out.
func isWriteError(err error) bool {
	var operation *net.OpError
	return errors.As(err, &operation) && (operation.Op == "write" || operation.Op == "readfrom")
}

// isDialError reports by its type whether err arose before there was a
// connection, for clients that do not trace.
func isDialError(err error) bool {
	var operation *net.OpError
	var dns *net.DNSError
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &operation) && operation.Op == "dial" ||
		errors.As(err, &dns) ||
		errors.As(err, &record) ||
		errors.As(err, &certificate)
}
