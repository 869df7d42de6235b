package integration

import (
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

const clusterName = "alternator.example.com"

// namedCluster starts nodes whose certificates carry the name of the cluster
// and not their addresses, which is what /localnodes lists.
func namedCluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	c := cluster.New(t, verified, func(o *cluster.Options) {
		o.TLS, o.TLSNames, o.TLSOnlyNames = true, []string{clusterName}, true
	})
	c.Record(true)
	return c
}

// trusting returns the SDK's HTTP client with the authority of a cluster.
func trusting(c *cluster.Cluster) *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) {
		tr.TLSClientConfig.RootCAs = c.CertPool()
		tr.DialContext = c.DialContext
	})
}

// over is an option for a client that makes one attempt, with an HTTP client.
func over(httpClient *awshttp.BuildableClient) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = httpClient, aws.NopRetryer{} }
}

func TestNodesAreVerifiedByTheNameOfTheCluster(t *testing.T) {
	t.Parallel()
	c := namedCluster(t)
	serverNames := &list[string]{}
	for _, n := range c.Nodes() {
		n.Before(func(_ string, r *http.Request) { serverNames.add(r.TLS.ServerName) })
	}
	httpClient := middleware.WithServerName(trusting(c), clusterName)
	createTableWith(t, c.Client(over(httpClient)), "items", "pk", "S")

	p := newPlugin(t, c, quiet, mode(middleware.AnyWrite))
	client := attach(t, c, p, over(httpClient))
	wantKnown(t, c, p, 0, 1, 2)
	for _, status := range p.Nodes() {
		if status.State.String() != "active" {
			t.Errorf("%s is %v", status.Endpoint, status.State)
		}
	}
	in := batch(writes{"items": newVoter(t, c).puts(2, 2, 1)})
	eventuallyVotes(t, client, in) // the table is looked up
	for node := range 3 {
		wantVote(t, c, client, batch(writes{"items": newVoter(t, c).puts(node)}), node)
	}

	// The poller and the lookup go the way of the requests.
	for _, operation := range []string{cluster.LocalNodes, "DescribeTable", "BatchWriteItem"} {
		if c.Count(operation) == 0 {
			t.Errorf("no node received a %s", operation)
		}
	}
	for _, n := range c.Nodes() {
		if n.Count(cluster.LocalNodes) == 0 {
			t.Errorf("node %d was not asked whether it answers", n.Index())
		}
	}
	names := serverNames.take()
	if got, want := slices.Compact(names), []string{clusterName}; !slices.Equal(got, want) {
		t.Errorf("the nodes were asked for the certificates of %q, want %q", got, want)
	}
	// The name is for certificates alone.
	for _, r := range c.Requests() {
		if want := c.Node(r.Node).HostPort(); r.Host != want {
			t.Errorf("node %d received a %s for the host %s, want %s", r.Node, r.Operation, r.Host, want)
		}
		if r.Operation != cluster.LocalNodes && !r.SignatureValid {
			t.Errorf("node %d received a %s whose signature is wrong", r.Node, r.Operation)
		}
	}
}

func TestNodesThatCannotBeVerified(t *testing.T) {
	t.Parallel()
	c := namedCluster(t)
	for name, test := range map[string]struct {
		httpClient *awshttp.BuildableClient
		verify     func(error) bool
	}{
		"dialled by address": {trusting(c), isNotFor(c.Node(0).Address())},
		"another name":       {middleware.WithServerName(trusting(c), "alternator.example.org"), isNotFor("alternator.example.org")},
		"the name of a part": {middleware.WithServerName(trusting(c), "example.com"), isNotFor("example.com")},
		"unknown authority":  {middleware.WithServerName(reaching(c), clusterName), isOfUnknownAuthority},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlugin(t, c, quiet, mode(middleware.AnyWrite), keys("items", "pk"))
			client := c.Client(over(test.httpClient), p.Attach)
			_, err := client.BatchWriteItem(deadline(t), batch(writes{"items": {put(item{"pk": str("a")})}}))
			if !test.verify(err) {
				t.Errorf("a write failed with %v", err)
			}
			if e := coordinatorError(t, err); e.Coordinator != c.Node(0).URL() {
				t.Errorf("the error is of %s, want %s", e.Coordinator, c.Node(0).URL())
			}
			if err := p.Refresh(deadline(t)); !test.verify(err) {
				t.Errorf("Refresh failed with %v", err)
			}
		})
	}
	if list := c.Requests(); len(list) > 0 {
		t.Errorf("%d requests were sent to nodes that could not be verified, such as a %s", len(list), list[0].Operation)
	}
}

// reaching returns the SDK's HTTP client as it is, but for macOS, where nodes
// have to be dialled in a way of the cluster's own.
func reaching(c *cluster.Cluster) *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) { tr.DialContext = c.DialContext })
}

// isNotFor tells the error of a certificate that is not for a host.
func isNotFor(host string) func(error) bool {
	return func(err error) bool {
		failure, ok := errors.AsType[x509.HostnameError](err)
		return ok && failure.Host == host
	}
}

func isOfUnknownAuthority(err error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}
