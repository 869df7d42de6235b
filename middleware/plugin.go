package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/resolver"
)

// maxClose bounds how long [Plugin.Close] waits when its context does not.
const maxClose = 5 * time.Second

// A Plugin routes the requests of the clients that it is attached to. One
// plugin is for one cluster; several clients of that cluster may share it. It
// is safe for concurrent use. Make one with [New], and Close it.
type Plugin struct {
	options Options
	logger  lateLogger
	mode    atomic.Uint32
	counts  counts
	schemas *discovery.Schemas

	nodes   atomic.Pointer[discovery.Nodes] // nil until there are seeds
	running atomic.Bool                     // background work was started from a request

	// telemetry is made for the first client that sends a request.
	telemetry atomic.Pointer[telemetry]

	mu       sync.Mutex
	closed   bool
	attached *attachment // the last one, for a Refresh before the first request
}

// attachment is what an Attach saw of its client. The client's options may
// change until the client is made, so what they are in the end is only read by
// the client's own requests.
type attachment struct {
	baseEndpoint *string
	httpClient   discovery.HTTPClient
	logger       logging.Logger
}

// New returns a plugin. It does no I/O: the background work starts with the
// first request through an attached client, or with [Plugin.Refresh].
//
// The error names every option that is wrong.
func New(optFns ...func(*Options)) (*Plugin, error) {
	var options Options
	for _, fn := range optFns {
		fn(&options)
	}
	options = options.clone().withDefaults()
	seeds, err := parseSeeds(options.Seeds)
	if err := errors.Join(append(options.validate(), err)...); err != nil {
		return nil, err
	}
	p := &Plugin{options: options}
	p.logger.use(options.Logger)
	p.mode.Store(uint32(options.Mode))
	p.schemas, err = discovery.NewSchemas(discovery.SchemasConfig{
		PartitionKeys: options.PartitionKeys,
		Size:          options.SchemaCacheSize,
		Timeout:       options.SchemaTimeout,
		Logger:        &p.logger,
	})
	if err != nil {
		return nil, err
	}
	if len(seeds) > 0 {
		nodes, err := discovery.NewNodes(options.nodesConfig(seeds, &p.logger))
		if err != nil {
			return nil, err
		}
		p.nodes.Store(nodes)
	}
	return p, nil
}

// Attach adds the plugin to a client, or to one call. It is a functional option
// of the SDK:
//
//	client := dynamodb.NewFromConfig(cfg, plugin.Attach)     // a new client
//	client = dynamodb.New(client.Options(), plugin.Attach)   // an existing one
//	client.BatchWriteItem(ctx, in, plugin.Attach)            // a single call
//
// Attaching a plugin twice is attaching it once; of several plugins the one
// that was attached last counts. Options that set the client's HTTPClient,
// BaseEndpoint or Logger go before it if [Plugin.Refresh] or [Plugin.CheckScope]
// is called before the first request.
func (p *Plugin) Attach(o *dynamodb.Options) {
	if p.options.Disabled {
		return
	}
	p.mu.Lock()
	p.attached = &attachment{baseEndpoint: o.BaseEndpoint, httpClient: o.HTTPClient, logger: o.Logger}
	p.mu.Unlock()
	o.Retryer = wrapRetryer(o.Retryer)
	o.APIOptions = append(o.APIOptions, p.stackOption(o))
}

// start begins the background work for a request of the client with the given
// options, once. The error says that there is no node to start from.
func (p *Plugin) start(o *dynamodb.Options) error {
	if p.running.Load() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.running.Load() {
		return nil
	}
	p.logger.use(o.Logger)
	nodes, err := p.startNodesLocked(o.BaseEndpoint, o.HTTPClient)
	if err != nil {
		return err
	}
	p.schemas.Start(describeWith(o))
	t, err := newTelemetry(p, o)
	if err != nil {
		p.logger.Logf(logging.Warn, "keyroute: some metrics are missing: %v", err)
	}
	p.telemetry.Store(t)
	nodes.MarkUsed()
	p.running.Store(true)
	return nil
}

func (p *Plugin) startNodesLocked(baseEndpoint *string, client discovery.HTTPClient) (*discovery.Nodes, error) {
	nodes := p.nodes.Load()
	if nodes == nil {
		endpoint := aws.ToString(baseEndpoint)
		if endpoint == "" {
			return nil, errors.New("keyroute: there are no seeds: set Options.Seeds, or the BaseEndpoint of the client before Attach")
		}
		seeds, err := parseSeeds([]string{endpoint})
		if err != nil {
			return nil, fmt.Errorf("keyroute: the client's BaseEndpoint cannot be a seed: %w", err)
		}
		if nodes, err = discovery.NewNodes(p.options.nodesConfig(seeds, &p.logger)); err != nil {
			return nil, err
		}
		p.nodes.Store(nodes)
	}
	nodes.Start(client)
	return nodes, nil
}

// SetMode changes the mode of the requests that begin from now on. The error
// says that it is not one of the constants.
func (p *Plugin) SetMode(mode Mode) error {
	if !mode.valid() {
		return fmt.Errorf("keyroute: SetMode: %v is not a mode", mode)
	}
	p.mode.Store(uint32(mode))
	return nil
}

// Mode returns the mode of the requests that begin now.
func (p *Plugin) Mode() Mode { return Mode(p.mode.Load()) }

// Refresh fetches the list of live nodes now and asks each of them whether it
// answers, so that the first requests of a program find the whole cluster.
// Routing works without it: it starts with the seeds. The plugin must have been
// attached to a client; before that client's first request, what counts is the
// HTTP client that it had when the plugin was attached, not one that a later
// option sets. The error tells why there was no good answer; it does not keep
// the plugin from trying again in the background.
func (p *Plugin) Refresh(ctx context.Context) error {
	nodes, err := p.refreshable()
	if nodes == nil {
		return err
	}
	return nodes.Refresh(ctx)
}

// CheckScope asks the cluster whether the datacenters and racks of
// Options.Scope exist, for a program's start: a misspelt one otherwise goes
// unnoticed, because its fallback serves. The plugin must have been attached to
// a client. The error names what is unknown.
func (p *Plugin) CheckScope(ctx context.Context) error {
	nodes, err := p.refreshable()
	if nodes == nil {
		return err
	}
	return nodes.CheckScope(ctx)
}

// refreshable returns the nodes, started. Without an error it may return
// none: a disabled plugin has nothing to refresh.
func (p *Plugin) refreshable() (*discovery.Nodes, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.options.Disabled:
		return nil, nil
	case p.closed:
		return nil, errors.New("keyroute: the plugin is closed")
	case p.running.Load():
		return p.nodes.Load(), nil
	case p.attached == nil:
		return nil, errors.New("keyroute: the plugin is not attached to a client yet")
	}
	p.logger.use(p.attached.logger)
	return p.startNodesLocked(p.attached.baseEndpoint, p.attached.httpClient)
}

// Nodes returns a snapshot of the live nodes in canonical order: the seeds
// until the cluster was asked, and nothing before there are any.
func (p *Plugin) Nodes() []discovery.Status {
	nodes := p.nodes.Load()
	if nodes == nil {
		return nil
	}
	return nodes.Statuses()
}

// Close stops the background work and waits until it has stopped, or ctx is
// done, for 5 s at most; then it returns an error. It may be called any number
// of times. Attached clients keep working, with what was last known.
func (p *Plugin) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	nodes := p.nodes.Load()
	p.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, maxClose, errors.New("keyroute: Close: the background work did not stop in time"))
	defer cancel()
	p.telemetry.Load().stop()
	err := p.schemas.Close(ctx)
	if nodes != nil {
		err = errors.Join(nodes.Close(ctx), err)
	}
	return err
}

// lateLogger is a logger that is known later than those who log to it: it is
// the first one that use is given and that is not silent, as that of a client
// is for which none was set (yet). Until then nothing is logged.
type lateLogger struct {
	logger atomic.Pointer[logging.Logger]
}

func (l *lateLogger) use(logger logging.Logger) {
	if _, silent := logger.(logging.Nop); logger != nil && !silent {
		l.logger.CompareAndSwap(nil, &logger)
	}
}

// Logf implements [logging.Logger].
func (l *lateLogger) Logf(c logging.Classification, format string, args ...any) {
	if logger := l.logger.Load(); logger != nil {
		(*logger).Logf(c, format, args...)
	}
}

var emptyRing = resolver.NewRing()
