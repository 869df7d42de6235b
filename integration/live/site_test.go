package live

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.uber.org/goleak"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test may take. It is never waited for in a test that
// passes.
const patience = time.Minute

// A site is the cluster that a test runs on.
type site struct {
	t       *testing.T
	ctx     context.Context
	seeds   []string
	options dynamodb.Options // of a client without the plugin
}

// newSite finds the cluster that the environment names, or starts one.
func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t}
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	credentials := aws.Credentials{
		AccessKeyID:     setting("KEY_ID", "keyroute"),
		SecretAccessKey: setting("SECRET", "not a secret"),
	}
	if seeds := setting("SEEDS", ""); seeds != "" {
		s.seeds = strings.Split(seeds, ",")
		s.options = realOptions(t, s.seeds[0], credentials)
		return s
	}
	c := cluster.New(t, func(o *cluster.Options) {
		o.Credentials, o.VerifySignatures = credentials, true
		o.Place = func(int) (dc, rack string) { return datacenter(), "rack1" }
	})
	s.seeds, s.options = c.Seeds(), c.ClientOptions()
	return s
}

// setting returns what the environment says, or a default.
func setting(name, byDefault string) string {
	if value := os.Getenv("KEYROUTE_TEST_" + name); value != "" {
		return value
	}
	return byDefault
}

// datacenter is one that the cluster has. Scylla gives the default name to the
// only one of a cluster that was told nothing about places.
func datacenter() string { return setting("DATACENTER", "datacenter1") }

func realOptions(t *testing.T, seed string, credentials aws.Credentials) dynamodb.Options {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return dynamodb.Options{
		BaseEndpoint: &seed,
		Region:       "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return credentials, nil
		}),
		HTTPClient:                      &http.Client{Transport: transport},
		DisableValidateResponseChecksum: true, // Alternator sends no checksums
	}
}

// bare returns a client without the plugin.
func (s *site) bare() *dynamodb.Client { return dynamodb.New(s.options) }

// A routed is a client with a plugin that knows the cluster's nodes.
type routed struct {
	*dynamodb.Client
	*site
	plugin *middleware.Plugin
	nodes  []string // canonical endpoints, in order
}

// route makes a client with a plugin, which must get by without going on to
// another node: that it does so when it has to is tested elsewhere.
func (s *site) route(mode middleware.Mode, optFns ...func(*middleware.Options)) *routed {
	s.t.Helper()
	plugin, err := middleware.New(append([]func(*middleware.Options){func(o *middleware.Options) {
		o.Mode, o.Seeds = mode, s.seeds
	}}, optFns...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	r := &routed{site: s, plugin: plugin, Client: dynamodb.New(s.options, plugin.Attach)}
	s.t.Cleanup(func() {
		if n := plugin.Stats().Failovers; n != 0 {
			s.t.Errorf("calls went on to another node %d times; is a node in trouble? %+v", n, plugin.Nodes())
		}
		if err := plugin.Close(context.Background()); err != nil {
			s.t.Error(err)
		}
	})
	if err := plugin.Refresh(s.ctx); err != nil {
		s.t.Fatalf("Refresh: %v", err)
	}
	for _, status := range plugin.Nodes() {
		r.nodes = append(r.nodes, status.Endpoint)
	}
	return r
}

// must ends a test that cannot go on.
func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// eventually waits until a condition holds that nothing tells of.
func (s *site) eventually(what string, holds func() bool) {
	s.t.Helper()
	for !holds() {
		select {
		case <-s.ctx.Done():
			s.t.Fatalf("within %v it did not come about that %s", patience, what)
		case <-time.After(time.Millisecond):
		}
	}
}
