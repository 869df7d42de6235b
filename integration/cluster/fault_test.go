package cluster_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
)

// faultyCluster starts a cluster with a table, and a client that tries once.
func faultyCluster(t *testing.T) (*cluster.Cluster, *dynamodb.Client) {
	t.Helper()
	c := cluster.New(t)
	client := c.Client(once)
	createOrders(t, client, false)
	return c, client
}

func TestHangUntilTheClientGoesAway(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(1).Inject(cluster.Hang())
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error)
	go func() { answered <- put(ctx, client, "a", to(c.Node(1))) }()
	await(t, c.Node(1), "PutItem", 1)
	cancel()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that of the context", err)
	}
	equal(t, "item is there", has(t, client, "a"), false)
}

func TestHealReleasesWhatHangs(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(1).Inject(cluster.Hang())
	answered := make(chan error)
	go func() { answered <- put(boundedContext(t), client, "a", to(c.Node(1))) }()
	await(t, c.Node(1), "PutItem", 1)
	heal(t, c.Node(1))
	if err := <-answered; !errors.Is(err, io.EOF) {
		t.Errorf("error is %v, want EOF", err)
	}
	if err := put(t.Context(), client, "a", to(c.Node(1))); err != nil {
		t.Error(err)
	}
}

func TestCloseReleasesWhatHangs(t *testing.T) {
	c, client := faultyCluster(t)
	c.Inject(cluster.Hang())
	answered := make(chan error)
	go func() { answered <- put(boundedContext(t), client, "a") }()
	await(t, c.Node(0), "PutItem", 1)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err == nil {
		t.Error("a hanging node answered")
	}
}

func TestFaultOfOneOperation(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(0).Inject(cluster.CloseAfterRequest().On("PutItem"))
	if err := put(t.Context(), client, "a"); !errors.Is(err, io.EOF) {
		t.Errorf("error is %v, want EOF", err)
	}
	equal(t, "item is there", has(t, client, "a"), false)
	wantListed(t, c, c.Node(0), "", "127.0.0.1", "127.0.0.2", "127.0.0.3")
}

func TestFaultOfAllOperationsLeavesLocalNodesAlone(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(0).Inject(cluster.CloseAfterRequest().On(cluster.Operations))
	for _, err := range []error{put(t.Context(), client, "a"), describeError(t, client)} {
		if !errors.Is(err, io.EOF) {
			t.Errorf("error is %v, want EOF", err)
		}
	}
	wantListed(t, c, c.Node(0), "", "127.0.0.1", "127.0.0.2", "127.0.0.3")
	heal(t, c.Node(0))

	c.Node(0).Inject(cluster.CloseAfterRequest().On(cluster.LocalNodes))
	if err := put(t.Context(), client, "a"); err != nil {
		t.Error(err)
	}
	if _, err := c.HTTPClient().Get(c.Node(0).URL() + "/localnodes"); !errors.Is(err, io.EOF) {
		t.Errorf("error is %v, want EOF", err)
	}
}

func describeError(t *testing.T, client *dynamodb.Client) error {
	_, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
	return err
}

func TestFaultOfSomeRequests(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(0).Inject(cluster.CloseAfterRequest().On("PutItem").Times(2))
	var failed int
	for range 5 {
		describeError(t, client) // does not count
		if put(t.Context(), client, "a") != nil {
			failed++
		}
	}
	equal(t, "failed requests", failed, 2)
}

func TestResetAfterRequest(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(0).Inject(cluster.ResetAfterRequest())
	if err := put(t.Context(), client, "a"); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error is %v, want a reset connection", err)
	}
	heal(t, c.Node(0))
	equal(t, "item is there", has(t, client, "a"), false)
}

func TestResetMidResponse(t *testing.T) {
	c, client := faultyCluster(t)
	c.Record(true)
	c.Node(0).Inject(cluster.ResetMidResponse().On("DescribeTable"))
	if err := describeError(t, client); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error is %v, want a reset connection", err)
	}
	equal(t, "status", c.Requests()[0].Status, 200) // it had arrived

	c.Node(0).Inject(cluster.ResetMidResponse().On("PutItem"))
	put(t.Context(), client, "a")
	equal(t, "item of an answer that was cut short is there", has(t, client, "a"), true)
}

func TestAnswer(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(0).Inject(cluster.Answer(400, "AccessDeniedException", "not you").On("DescribeTable"))
	c.Node(0).Inject(cluster.Answer(500, "InternalServerError", "oops").On("PutItem").Times(2))
	for range 2 {
		wantAPIError(t, put(t.Context(), client, "a"), "InternalServerError", "oops", 500)
	}
	if err := put(t.Context(), client, "a"); err != nil {
		t.Error(err)
	}
	wantAPIError(t, describeError(t, client), "AccessDeniedException", "not you", 400)
	heal(t, c.Node(0))
	if err := describeError(t, client); err != nil {
		t.Error(err)
	}
	c.Node(0).Inject(cluster.Answer(500, "InternalServerError", "oops"))
	wantListed(t, c, c.Node(0), "", "127.0.0.1", "127.0.0.2", "127.0.0.3") // no operation
}

func TestRequestLimitExceededClosesWithoutSayingSo(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(0).Inject(cluster.Answer(400, "RequestLimitExceeded", "too many in-flight requests"))
	wantAPIError(t, put(t.Context(), client, "a"), "RequestLimitExceeded", "too many in-flight requests", 400)

	conn, r := dialIdle(t, c, c.Node(0))
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: node\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\nContent-Length: 2\r\n\r\n{}")
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	equal(t, "closing was announced", response.Close, false)
	wantClosed(t, r)
}

func TestSlow(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(0).Inject(cluster.Slow(time.Millisecond))
	c.Node(0).Inject(cluster.Answer(500, "InternalServerError", "slowly"))
	wantAPIError(t, put(t.Context(), client, "a"), "InternalServerError", "slowly", 500)
	heal(t, c.Node(0))

	c.ResetCounts()
	c.Node(0).Inject(cluster.Slow(24 * time.Hour).On("PutItem"))
	if err := describeError(t, client); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gaveUp, answered := make(chan error), make(chan error)
	go func() { gaveUp <- put(ctx, client, "b") }()
	go func() { answered <- put(boundedContext(t), client, "a") }()
	await(t, c.Node(0), "PutItem", 2)
	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that of the context", err)
	}
	heal(t, c.Node(0)) // ends the delay, not the request
	if err := <-answered; err != nil {
		t.Error(err)
	}
	equal(t, "item is there", has(t, client, "a"), true)
}

func TestHold(t *testing.T) {
	c, client := faultyCluster(t)
	release := make(chan struct{})
	c.Node(0).Inject(cluster.Hold(release).On("DescribeTable"))
	answered := make(chan error)
	go func() { answered <- describeError(t, client) }()
	await(t, c.Node(0), "DescribeTable", 1)
	if err := put(t.Context(), client, "a"); err != nil { // not held
		t.Error(err)
	}
	close(release)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestBefore(t *testing.T) {
	c, client := faultyCluster(t)
	seen := make(chan string, 3)
	c.Node(0).Before(func(operation string, r *http.Request) { seen <- operation + " of " + r.Host })
	if err := put(t.Context(), client, "a"); err != nil {
		t.Fatal(err)
	}
	get(t, c, c.Node(0).URL()+"/localnodes")
	c.Node(0).Before(nil)
	if err := put(t.Context(), client, "a"); err != nil {
		t.Fatal(err)
	}
	equal(t, "first request", <-seen, "PutItem of "+c.Node(0).HostPort())
	equal(t, "second request", <-seen, "localnodes of "+c.Node(0).HostPort())
	equal(t, "further requests", len(seen), 0)
}

func TestGarbleLocalNodes(t *testing.T) {
	c, client := faultyCluster(t)
	c.Node(0).Inject(cluster.GarbleLocalNodes(503, "text/html", "<html>"))
	r, body := get(t, c, c.Node(0).URL()+"/localnodes")
	equal(t, "status", r.StatusCode, 503)
	equal(t, "content type", r.Header.Get("Content-Type"), "text/html")
	equal(t, "body", body, "<html>")
	if err := put(t.Context(), client, "a"); err != nil {
		t.Error(err)
	}
	heal(t, c.Node(0))
	wantListed(t, c, c.Node(0), "", "127.0.0.1", "127.0.0.2", "127.0.0.3")
}

func TestEndlessLocalNodes(t *testing.T) {
	c, _ := faultyCluster(t)
	c.Node(0).Inject(cluster.EndlessLocalNodes())
	r, err := c.HTTPClient().Get(c.Node(0).URL() + "/localnodes")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	const much = 4 << 20
	start := make([]byte, len(`["127.0.0.1",`))
	if _, err := io.ReadFull(r.Body, start); err != nil || string(start) != `["127.0.0.1",` {
		t.Errorf("the list begins with %q: %v", start, err)
	}
	if n, err := io.CopyN(io.Discard, r.Body, much); err != nil {
		t.Errorf("the list ended after %d bytes: %v", n, err)
	}
	heal(t, c.Node(0)) // although the client has stopped to read
	if _, err := io.Copy(io.Discard, r.Body); err == nil {
		t.Error("the list came to a proper end")
	}
}
