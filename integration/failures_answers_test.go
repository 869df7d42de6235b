package integration

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// TestRefusedRequestsAreAnswers: a node that turns down what it is asked for is
// a node that answers.
func TestRefusedRequestsAreAnswers(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a), downAtOnce)
	key := keyPreferring(t, s.Cluster, 1)
	if _, err := s.client.BatchWriteItem(s.ctx, batch(writes{"items": {put(item{"pk": key})}})); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		// Two writes of one key in a batch are refused.
		_, err := s.client.BatchWriteItem(s.ctx, batch(writes{"items": {put(item{"pk": key}), del(item{"pk": key})}}))
		if got := apiError(t, err).ErrorCode(); got != "ValidationException" {
			t.Fatalf("error is %v", err)
		}
		if c := coordinatorError(t, err); c.Coordinator != s.Node(1).URL() || c.Attempt != 1 {
			t.Fatalf("error is of %s and attempt %d, want node 1 and attempt 1", c.Coordinator, c.Attempt)
		}
		_, err = s.client.PutItem(s.ctx, &dynamodb.PutItemInput{
			TableName: aws.String("items"), Item: item{"pk": key},
			ConditionExpression: aws.String("attribute_not_exists(pk)")})
		if got := apiError(t, err).ErrorCode(); got != "ConditionalCheckFailedException" {
			t.Fatalf("error is %v", err)
		}
	}
	s.wantWell(0, 1, 2)
	s.want(s.write(1), 1, 1)
	a.want(t, 202)
}

// TestServerErrorsAreNeutral: they say nothing about the node, since a node
// answers 500 for others that it needs, and a proxy the rest.
func TestServerErrorsAreNeutral(t *testing.T) {
	t.Parallel()
	for _, status := range []int{500, 502, 503, 504} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			a := newAccount()
			s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a), downAtOnce)
			s.Node(1).Inject(cluster.Answer(status, "InternalServerError", "oops").On("BatchWriteItem"))
			var delays []int
			for range 15 {
				// With the user's back-off and tokens, but on another node.
				s.want(s.write(1), 2, s.order(1)[:2]...)
				delays = append(delays, 1)
			}
			s.wantWell(0, 1, 2)
			a.want(t, 30, delays...)
		})
	}
}

// TestServerErrorsDoNotPromote is about a node that is not known to answer.
func TestServerErrorsDoNotPromote(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(1))
	createTable(t, c, "items", "pk", "S")
	c.Node(0).Inject(cluster.GarbleLocalNodes(500, "text/plain", "not yet"))
	c.Node(0).Inject(cluster.Answer(503, "InternalServerError", "oops").On("BatchWriteItem").Times(10))
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("items", "pk"), quiet, downAtOnce,
		func(o *middleware.Options) { o.Health.QuarantinePromotion = 3 })
	client := c.Client(p.Attach, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	in := batch(writes{"items": {put(item{"pk": str("a")})}})
	state := func() discovery.State { return p.Nodes()[0].State }
	for range 10 {
		if _, err := client.BatchWriteItem(t.Context(), in); apiError(t, err).ErrorCode() != "InternalServerError" {
			t.Fatalf("error is %v", err)
		}
	}
	wantEqual(t, "state after ten server errors", state(), discovery.Quarantined)
	for i := range 3 {
		wantEqual(t, fmt.Sprintf("state after %d answers", i), state(), discovery.Quarantined)
		if _, err := client.BatchWriteItem(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	wantEqual(t, "state after three answers", state(), discovery.Active)
}

// TestThrottling: a node that is overloaded says so and hangs up.
func TestThrottling(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a), downAtOnce)
	s.Record(true)
	s.Node(1).Inject(cluster.Answer(400, "RequestLimitExceeded", "too many in-flight requests").Times(1))
	s.want(s.write(1), 2, s.order(1)[:2]...)
	a.want(t, 2, 1) // the user's back-off, and a token
	s.wantWell(0, 1, 2)
	wantEqual(t, "nodes that were asked", asked(s.Cluster, "BatchWriteItem"), s.order(1)[:2])

	s.pool.CloseIdleConnections() // the node closed one of them
	s.want(s.write(1), 1, 1)
}
