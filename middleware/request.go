package middleware

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/resolver"
)

const (
	// InitializeID is the name of the plugin's middleware in the Initialize
	// step. Other middleware can be inserted relative to it.
	InitializeID = "keyroute"

	// FinalizeID is the name of the plugin's middleware in the Finalize step,
	// where it stands between Retry and Signing.
	FinalizeID = "keyroute"

	// anchorID is the middleware of the SDK that the plugin's Finalize
	// middleware stands before: the node must be known when the request is
	// signed, since the signature covers its host, and the SDK resolves its
	// own endpoint before that.
	anchorID = "Signing"
)

// A request is one call of an operation on its way through the plugin. The SDK
// makes a stack for each call, so the state of the call is the middleware
// itself, and costs one allocation. It is used by one goroutine until the call
// is over; then any number of them may ask for its decision.
type request struct {
	plugin *Plugin
	client *dynamodb.Options // of the call; final
	input  any               // typed, until the call is over

	// Set by the first attempt.
	planned bool
	router  router
	reason  Reason
	nodes   *discovery.Nodes
	view    *discovery.View
	plan    resolver.Plan
	walk    walk

	attempts int // so far
	firstTry try
}

// stackOption returns what adds the plugin to the stack of a call, for the
// client with the given options, which are final by then.
func (p *Plugin) stackOption(o *dynamodb.Options) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		r := &request{plugin: p, client: o}
		if _, ok := stack.Finalize.Get(FinalizeID); ok {
			return r.replace(stack)
		}
		if _, ok := stack.Finalize.Get(anchorID); !ok {
			return fmt.Errorf("keyroute: the stack of %s has no middleware %q to stand before", stack.ID(), anchorID)
		}
		if err := stack.Finalize.Insert(r, anchorID, middleware.Before); err != nil {
			return err
		}
		return stack.Initialize.Add(r, middleware.After)
	}
}

// replace puts the request in the place of that of an earlier Attach.
func (r *request) replace(stack *middleware.Stack) error {
	if _, err := stack.Finalize.Swap(FinalizeID, r); err != nil {
		return err
	}
	_, err := stack.Initialize.Swap(InitializeID, r)
	return err
}

// ID implements the middleware interfaces of both steps.
func (r *request) ID() string { return FinalizeID }

// HandleInitialize keeps the typed input for the routing of the request. When
// the call is over it leaves the decision in the metadata.
func (r *request) HandleInitialize(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	if err := r.plugin.start(r.client); err != nil {
		return middleware.InitializeOutput{}, middleware.Metadata{}, err
	}
	if r.planned { // a middleware before this one calls it again
		r.planned, r.attempts, r.walk = false, 0, walk{}
	}
	r.input = in.Parameters
	out, metadata, err := next.HandleInitialize(ctx, in)
	r.input = nil
	r.plugin.counts.add(r)
	r.plugin.telemetry.Load().recordCall(ctx, r)
	if err == nil {
		learn(r.plugin.schemas, out.Result)
	}
	metadata.Set(decisionKey{}, r)
	return out, metadata, err
}

// HandleFinalize sends an attempt of the request to the next node of its plan.
func (r *request) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	if !r.planned {
		r.makePlan()
	}
	req, ok := in.Request.(*smithyhttp.Request)
	if !ok || r.reason == ReasonNoNodes {
		return next.HandleFinalize(ctx, in)
	}
	r.attempts++
	return r.send(ctx, req, next)
}

// makePlan decides how the request is routed, from one view of the nodes and
// one mode.
func (r *request) makePlan() {
	r.planned = true
	r.router = router{mode: r.plugin.Mode(), tables: r.plugin.options.TableModes, schemas: r.plugin.schemas}
	ring := emptyRing
	if r.nodes = r.plugin.nodes.Load(); r.nodes != nil {
		r.nodes.MarkUsed()
		r.view = r.nodes.View()
		r.walk.begin(&r.plan, r.view)
		ring = r.view.Ring
	}
	r.reason = r.router.decide(&r.plan, ring, r.input, rand.Uint64)
}

// decision only reads what the call left behind.
func (r *request) decision() Decision {
	d := Decision{Reason: r.reason, Mode: r.router.mode, Votes: r.plan.Votes()}
	if r.plan.Len() == 0 {
		return d
	}
	d.Preferred = r.view.Ring.Node(r.plan.At(0)).String()
	for _, node := range r.walk.tried {
		d.Tried = append(d.Tried, node.String())
	}
	if n := len(d.Tried); n > 0 {
		d.Coordinator = d.Tried[n-1]
	}
	return d
}
