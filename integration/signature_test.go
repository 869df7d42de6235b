package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

func verifySignatures(o *cluster.Options) { o.VerifySignatures = true }

// The signature covers the host, so one that was made for another node would be
// refused.
func TestEachAttemptIsSignedForItsOwnNode(t *testing.T) {
	c := cluster.New(t, nodes(2), verifySignatures)
	createTable(t, c, "orders", "pk", "S")
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk")), impatient(4))
	c.Node(0).Inject(oops())
	c.Record(true)
	d := send(t, client, batch(writes{"orders": newVoter(t, c).puts(0)}))

	requests := requestsOf(c, "BatchWriteItem")
	if len(requests) != 2 {
		t.Fatalf("%d requests were sent, want 2", len(requests))
	}
	for i, r := range requests {
		if r.Node != i || r.Status != []int{500, 200}[i] {
			t.Errorf("request %d: node %d answered %d", i, r.Node, r.Status)
		}
		if r.Host != c.Node(i).HostPort() || !r.SignatureValid {
			t.Errorf("request %d: for the host %s, signed for it: %t; want %s, true", i, r.Host, r.SignatureValid, c.Node(i).HostPort())
		}
		if got, want := r.Header.Get("Amz-Sdk-Request"), []string{"attempt=1; max=4", "attempt=2; max=4"}[i]; got != want {
			t.Errorf("request %d: the SDK calls it %q, want %q", i, got, want)
		}
	}
	first, second := requests[0].Header, requests[1].Header
	if first.Get("Authorization") == second.Get("Authorization") {
		t.Error("both attempts have one signature")
	}
	if first.Get("Amz-Sdk-Invocation-Id") != second.Get("Amz-Sdk-Invocation-Id") {
		t.Error("the attempts are not of one call")
	}
	if d.Coordinator != c.Node(1).URL() {
		t.Errorf("coordinator %s, want %s", d.Coordinator, c.Node(1).URL())
	}
}

// smithy-go refuses a request whose Host is set to an IPv6 address.
func TestAnIPv6NodeIsSignedForAndReached(t *testing.T) {
	c := cluster.New(t, verifySignatures, func(o *cluster.Options) { o.IPv6 = true })
	createTable(t, c, "orders", "pk", "S")
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk")))
	c.Record(true)
	d := send(t, client, batch(writes{"orders": {put(item{"pk": str("a")})}}))
	if d.Reason != middleware.ReasonVoted || d.Coordinator != c.Node(0).URL() {
		t.Errorf("reason %v, coordinator %s, want %v, %s", d.Reason, d.Coordinator, middleware.ReasonVoted, c.Node(0).URL())
	}
	for _, r := range requestsOf(c, "BatchWriteItem") {
		if r.Host != c.Node(0).HostPort() || !r.SignatureValid {
			t.Errorf("for the host %s, signed for it: %t; want %s, true", r.Host, r.SignatureValid, c.Node(0).HostPort())
		}
	}
}

// Within the retry loop, after everything that sets an endpoint, before the
// signature.
func TestThePluginsPlaceInTheStack(t *testing.T) {
	c := cluster.New(t, nodes(1))
	p := newPlugin(t, c)
	var initialize, finalize []string
	client := c.Client(p.Attach, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(s *smithymiddleware.Stack) error {
			initialize, finalize = s.Initialize.List(), s.Finalize.List()
			return nil
		})
	})
	createTableWith(t, client, "orders", "pk", "S")
	send(t, client, batch(writes{"orders": {put(item{"pk": str("a")})}}))

	var places []int
	for _, id := range []string{"Retry", "ResolveEndpointV2", "DiscoverEndpoint", middleware.FinalizeID, "Signing"} {
		places = append(places, slices.Index(finalize, id))
	}
	if places[0] < 0 || !slices.IsSorted(places) || len(slices.Compact(slices.Clone(places))) != len(places) {
		t.Errorf("the places %v of Finalize are out of order: %s", places, strings.Join(finalize, ", "))
	}
	if places[3] != places[4]-1 {
		t.Errorf("the plugin is not immediately before Signing: %s", strings.Join(finalize, ", "))
	}
	if at := slices.Index(initialize, middleware.InitializeID); at < 0 || at < slices.Index(initialize, "OperationInputValidation") {
		t.Errorf("the plugin is not after the validation: %s", strings.Join(initialize, ", "))
	}
}
