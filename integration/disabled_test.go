package integration

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.uber.org/goleak"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

func disabled(o *middleware.Options) { o.Disabled = true }

// wireCalls are calls whose requests are the same each time: what they send has
// no two map entries, whose order would differ.
var wireCalls = map[string]func(context.Context, *dynamodb.Client, ...func(*dynamodb.Options)) error{
	"BatchWriteItem": func(ctx context.Context, client *dynamodb.Client, optFns ...func(*dynamodb.Options)) error {
		_, err := client.BatchWriteItem(ctx, batch(writes{"orders": {put(item{"pk": str("a")}), del(item{"pk": str("b")})}}), optFns...)
		return err
	},
	"PutItem": func(ctx context.Context, client *dynamodb.Client, optFns ...func(*dynamodb.Options)) error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item{"pk": str("a")}}, optFns...)
		return err
	},
	"GetItem": func(ctx context.Context, client *dynamodb.Client, optFns ...func(*dynamodb.Options)) error {
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: item{"pk": str("a")}}, optFns...)
		return err
	},
	"ListTables": func(ctx context.Context, client *dynamodb.Client, optFns ...func(*dynamodb.Options)) error {
		_, err := client.ListTables(ctx, &dynamodb.ListTablesInput{}, optFns...)
		return err
	},
}

// differing are the headers that differ between any two calls.
var differing = []string{"Authorization", "X-Amz-Date", "Amz-Sdk-Invocation-Id"}

// received is what a cluster received, without what differs between any two
// calls.
func received(c *cluster.Cluster, call func() error) ([]cluster.Request, error) {
	c.ResetRequests()
	c.Record(true)
	defer c.Record(false)
	err := call()
	var list []cluster.Request
	for _, r := range c.Requests() {
		if r.Operation == cluster.LocalNodes {
			continue
		}
		for _, name := range differing {
			r.Header.Del(name)
		}
		list = append(list, r)
	}
	return list, err
}

func TestADisabledPluginChangesNothingOnTheWire(t *testing.T) {
	c := cluster.New(t, nodes(2), verifySignatures)
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), disabled, func(o *middleware.Options) { o.Seeds = c.Seeds() })
	bare, attached := c.Client(), c.Client(p.Attach)
	for name, call := range wireCalls {
		for _, retried := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", retried"}[retried], func(t *testing.T) {
				if retried {
					c.Inject(cluster.Answer(500, "InternalServerError", "oops").Times(2))
				}
				want, err := received(c, func() error { return call(deadline(t), bare) })
				if err != nil || len(want) == 0 {
					t.Fatalf("the bare client made the requests %v and got the error %v", want, err)
				}
				for way, repeat := range map[string]func() error{
					"attached to the client": func() error { return call(deadline(t), attached) },
					"attached to the call":   func() error { return call(deadline(t), bare, p.Attach) },
				} {
					heal(t, c)
					if retried {
						c.Inject(cluster.Answer(500, "InternalServerError", "oops").Times(2))
					}
					got, err := received(c, repeat)
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%s: the requests are\n%+v, of the bare client\n%+v", way, got, want)
					}
				}
			})
		}
	}
	if got := c.Count(cluster.LocalNodes) + c.Count("DescribeTable"); got != 0 {
		t.Errorf("the cluster was asked %d times for what it is, want none", got)
	}
}

// An HTTP client without connections leaves no goroutines but the plugin's to
// be seen.
func TestADisabledPluginDoesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	polls := 0
	client := dynamodb.New(clientOptions(func(r *http.Request) (*http.Response, error) {
		if operationOf(r) != "BatchWriteItem" {
			polls++
		}
		return reply(r, http.StatusOK, written), nil
	}))
	p, err := middleware.New(mode(middleware.AnyWrite), disabled, func(o *middleware.Options) { o.Seeds = []string{"http://127.0.0.1:8000"} })
	if err != nil {
		t.Fatal(err)
	}
	attached := dynamodb.New(client.Options(), p.Attach)
	if got, want := len(attached.Options().APIOptions), len(client.Options().APIOptions); got != want {
		t.Errorf("attaching it left %d API options, want %d", got, want)
	}
	if got, want := attached.Options().Retryer, client.Options().Retryer; got != want {
		t.Errorf("attaching it changed the retryer to %v", got)
	}
	for range 10 {
		out, err := attached.BatchWriteItem(deadline(t), batch(writes{"orders": {put(item{"pk": str("a")})}}), p.Attach)
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := middleware.DecisionOf(out.ResultMetadata); ok || !reflect.DeepEqual(d, middleware.Decision{}) {
			t.Errorf("it decided %+v", d)
		}
	}
	if err := p.Refresh(deadline(t)); err != nil {
		t.Errorf("Refresh: %v", err)
	}
	if err := p.SetMode(middleware.RMW); err != nil {
		t.Errorf("SetMode: %v", err)
	}
	if polls != 0 {
		t.Errorf("it made %d requests of its own", polls)
	}
	// deadline starts no goroutine; the SDK's calls have ended.
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
	if err := p.Close(deadline(t)); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// The plugin's own requests differ from the bare client's in where they go, and
// in that the SDK no longer tells the server its retry mode.
func TestAnAttachedPluginChangesTheHostAlone(t *testing.T) {
	c := cluster.New(t, nodes(1), verifySignatures)
	createTable(t, c, "orders", "pk", "S")
	bare, attached := c.Client(), attach(t, c, newPlugin(t, c))
	for name, call := range wireCalls {
		t.Run(name, func(t *testing.T) {
			want, err := received(c, func() error { return call(deadline(t), bare) })
			if err != nil {
				t.Fatal(err)
			}
			got, err := received(c, func() error { return call(deadline(t), attached) })
			if err != nil {
				t.Fatal(err)
			}
			for _, list := range [][]cluster.Request{got, want} {
				for _, r := range list {
					r.Header.Set("User-Agent", strings.TrimSuffix(r.Header.Get("User-Agent"), " m/E"))
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the requests are\n%+v, of the bare client\n%+v", got, want)
			}
		})
	}
}
