package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// awsConfig is a configuration that is not yet one of DynamoDB.
func awsConfig(c *cluster.Cluster) aws.Config {
	o := c.ClientOptions()
	return aws.Config{Region: o.Region, Credentials: o.Credentials, HTTPClient: o.HTTPClient, BaseEndpoint: o.BaseEndpoint}
}

type batchWriter func(context.Context, *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error)

// waysOfAttaching are all ways in which a plugin can get into a call, once or
// several times. Their clients make up to n attempts.
func waysOfAttaching(c *cluster.Cluster, p *middleware.Plugin, n int) map[string]batchWriter {
	with := func(client *dynamodb.Client, optFns ...func(*dynamodb.Options)) batchWriter {
		return func(ctx context.Context, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
			return client.BatchWriteItem(ctx, in, optFns...)
		}
	}
	bare, attached := c.Client(impatient(n)), c.Client(impatient(n), p.Attach)
	return map[string]batchWriter{
		"a new client":                    with(dynamodb.NewFromConfig(awsConfig(c), impatient(n), p.Attach)),
		"an existing client":              with(dynamodb.New(bare.Options(), p.Attach)),
		"a single call":                   with(bare, p.Attach),
		"the client and the call":         with(attached, p.Attach),
		"the client, twice":               with(c.Client(impatient(n), p.Attach, p.Attach)),
		"the call, twice":                 with(bare, p.Attach, p.Attach),
		"a client made from its options":  with(dynamodb.New(attached.Options(), p.Attach)),
		"that, and the call as well":      with(dynamodb.New(attached.Options(), p.Attach), p.Attach),
		"the options of an attached one":  with(dynamodb.New(attached.Options())),
		"before the options of a client":  with(c.Client(p.Attach, impatient(n))),
		"before the options of one call":  with(attached, p.Attach, impatient(n)),
		"after other options of one call": with(attached, impatient(n), p.Attach),
	}
}

func TestEveryWayOfAttachingRoutes(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	v := newVoter(t, c)
	ways := waysOfAttaching(c, p, 3)
	if err := p.Refresh(deadline(t)); err != nil {
		t.Fatal(err)
	}
	in := batch(writes{"orders": v.puts(2, 2, 1)})
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			out, err := write(deadline(t), in)
			if err != nil {
				t.Fatal(err)
			}
			d := decision(t, out.ResultMetadata)
			if got, want := votesOf(c, d), []vote{{2, 2}, {1, 1}}; !slices.Equal(got, want) {
				t.Errorf("votes %v, want %v", got, want)
			}
			if d.Coordinator != c.Node(2).URL() || len(d.Tried) != 1 {
				t.Errorf("coordinator %s after %v, want %s at once", d.Coordinator, d.Tried, c.Node(2).URL())
			}
		})
	}
	c.Inject(oops())
	for name, write := range ways {
		t.Run(name+", retried", func(t *testing.T) {
			c.ResetRequests()
			c.Record(true)
			if _, err := write(deadline(t), in); err == nil {
				t.Fatal("a batch succeeded though every node answers 500")
			}
			if got, want := asked(c, "BatchWriteItem"), []int{2, 1, 0}; !slices.Equal(got, want) {
				t.Errorf("the attempts went to the nodes %v, want %v", got, want)
			}
		})
	}
}

func TestThePluginAttachedLastCounts(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	none := newPlugin(t, c, mode(middleware.None))
	voting := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	client := attach(t, c, none)
	attach(t, c, voting)
	in := batch(writes{"orders": newVoter(t, c).puts(1)})
	if d := send(t, client, in); d.Reason != middleware.ReasonMode {
		t.Errorf("the client's plugin routed with the reason %v, want %v", d.Reason, middleware.ReasonMode)
	}
	if d := send(t, client, in, voting.Attach); d.Reason != middleware.ReasonVoted || d.Coordinator != c.Node(1).URL() {
		t.Errorf("the call's plugin routed to %s with the reason %v, want %s, %v", d.Coordinator, d.Reason, c.Node(1).URL(), middleware.ReasonVoted)
	}
}

// A plugin that another one replaced for every call does nothing.
func TestAReplacedPluginDoesNotStart(t *testing.T) {
	c := cluster.New(t, nodes(2))
	replaced, kept := newPlugin(t, c), newPlugin(t, c)
	client := c.Client(replaced.Attach, kept.Attach)
	if _, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
		t.Fatal(err)
	}
	if got := replaced.Stats(); len(got.Requests) != 0 || got.Refreshes.Probes != 0 || got.Refreshes.Refreshes != 0 {
		t.Errorf("the replaced plugin: %+v", got)
	}
	if got := kept.Stats().Requests[middleware.ReasonOperation]; got != 1 {
		t.Errorf("the other one routed %d requests, want 1", got)
	}
}

// A middleware of the caller's may call the rest of the stack again: each time
// counts as a request of its own, with a plan from its beginning.
func TestAMiddlewareRepeatsTheCall(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	again := smithymiddleware.InitializeMiddlewareFunc("again", func(ctx context.Context, in smithymiddleware.InitializeInput, next smithymiddleware.InitializeHandler) (
		smithymiddleware.InitializeOutput, smithymiddleware.Metadata, error,
	) {
		if _, _, err := next.HandleInitialize(ctx, in); err != nil {
			return smithymiddleware.InitializeOutput{}, smithymiddleware.Metadata{}, err
		}
		return next.HandleInitialize(ctx, in)
	})
	client := attach(t, c, p, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *smithymiddleware.Stack) error {
			return stack.Initialize.Add(again, smithymiddleware.Before)
		})
	})
	d := send(t, client, batch(writes{"orders": newVoter(t, c).puts(1)}))
	if d.Coordinator != c.Node(1).URL() || len(d.Tried) != 1 {
		t.Errorf("%+v, want the coordinator %s alone", d, c.Node(1).URL())
	}
	if s := p.Stats(); s.Requests[middleware.ReasonVoted] != 2 || s.Failovers != 0 {
		t.Errorf("%+v, want 2 requests and no failover", s)
	}
}

// Two clients of one configuration share whatever the SDK lets them share.
func TestClientsOfOneConfigurationAttachConcurrently(t *testing.T) {
	for name, plugins := range map[string]int{"one plugin": 1, "a plugin each": 2} {
		t.Run(name, func(t *testing.T) {
			c := cluster.New(t, nodes(3))
			createTable(t, c, "orders", "pk", "S")
			config := awsConfig(c)
			// With room for more, so that an append to it could be seen by others.
			config.APIOptions = append(make([]func(*smithymiddleware.Stack) error, 0, 8),
				func(*smithymiddleware.Stack) error { return nil })
			var attached []*middleware.Plugin
			for range plugins {
				p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
				attach(t, c, p)
				attached = append(attached, p)
			}
			v := newVoter(t, c)
			var running sync.WaitGroup
			for i := range 8 {
				node := i % 3
				in := batch(writes{"orders": v.puts(node)})
				running.Go(func() {
					client := dynamodb.NewFromConfig(config, attached[i%plugins].Attach)
					for range 5 {
						out, err := client.BatchWriteItem(deadline(t), in)
						if err != nil {
							t.Error(err)
							return
						}
						if d, _ := middleware.DecisionOf(out.ResultMetadata); d.Coordinator != c.Node(node).URL() {
							t.Errorf("coordinator %s, want %s", d.Coordinator, c.Node(node).URL())
						}
					}
				})
			}
			running.Wait()
		})
	}
}

func TestAMissingAnchorIsNamed(t *testing.T) {
	c := cluster.New(t, nodes(1))
	p := newPlugin(t, c)
	client := c.Client(func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(s *smithymiddleware.Stack) error {
			_, err := s.Finalize.Remove("Signing")
			return err
		})
	}, p.Attach)
	_, err := client.BatchWriteItem(deadline(t), batch(writes{"orders": {put(item{"pk": str("a")})}}))
	want := `keyroute: the stack of BatchWriteItem has no middleware "Signing" to stand before`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
	if got := c.Count("BatchWriteItem"); got != 0 {
		t.Errorf("%d requests were sent, want none", got)
	}
}

func TestSeedsAreTheOptionsOrTheClients(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	in := batch(writes{"orders": newVoter(t, c).puts(2)})
	with := func(seeds []string, endpoint *string) (*middleware.Plugin, *dynamodb.Client) {
		p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"), func(o *middleware.Options) { o.Seeds = seeds })
		return p, c.Client(func(o *dynamodb.Options) { o.BaseEndpoint = endpoint }, p.Attach)
	}

	for name, test := range map[string]struct {
		seeds    []string
		endpoint *string
	}{
		"seeds alone":         {c.Seeds()[1:2], nil},
		"the client's alone":  {nil, aws.String(c.Node(1).URL())},
		"both":                {c.Seeds()[1:2], aws.String("http://nobody.invalid:1")},
		"an empty list":       {[]string{}, aws.String(c.Node(1).URL() + "/")},
		"all nodes, repeated": {slices.Concat(c.Seeds(), c.Seeds()), nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, client := with(test.seeds, test.endpoint)
			if err := p.Refresh(deadline(t)); err != nil {
				t.Fatal(err)
			}
			if d := send(t, client, in); d.Coordinator != c.Node(2).URL() {
				t.Errorf("coordinator %s, want %s", d.Coordinator, c.Node(2).URL())
			}
		})
	}

	t.Run("neither", func(t *testing.T) {
		p, client := with(nil, nil)
		_, err := client.BatchWriteItem(deadline(t), in)
		for call, err := range map[string]error{"BatchWriteItem": err, "Refresh": p.Refresh(deadline(t))} {
			want := "keyroute: there are no seeds: set Options.Seeds, or the BaseEndpoint of the client before Attach"
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error is %v, want %q", call, err, want)
			}
		}
	})

	t.Run("the client's is no seed", func(t *testing.T) {
		_, client := with(nil, aws.String(c.Node(1).URL()+"/prefix"))
		_, err := client.BatchWriteItem(deadline(t), in)
		want := fmt.Sprintf("the client's BaseEndpoint cannot be a seed: keyroute: seed %q: must be scheme://host[:port] and nothing else", c.Node(1).URL()+"/prefix")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	})
}
