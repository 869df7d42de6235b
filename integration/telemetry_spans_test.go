package integration

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
)

// The span of each attempt of the SDK tells where it went, and why.

func TestSpansOfAttempts(t *testing.T) {
	t.Parallel()
	spans := &spanRecord{}
	s := newSceneOf(t, cluster.New(t, nodes(3)), spans.option)

	s.write(1)
	s.wantSpans(spans, s.span(1, "voted", 1))

	_, err := s.client.PutItem(s.ctx, &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item{"pk": keyPreferring(t, s.Cluster, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	s.wantSpans(spans, s.span(2, "keyed", 1))

	s.Inject(oops().Times(1))
	o := s.write(1)
	if o.attempts != 3+1 {
		t.Fatalf("a write took %d attempts, want one more than there are nodes", o.attempts)
	}
	order := s.order(1)
	s.wantSpans(spans, s.span(order[0], "voted", 1), s.span(order[1], "voted", 2), s.span(order[2], "voted", 3), s.span(order[0], "voted", 4))

	// Nothing was sent to the first node: the attempt is the second one's.
	s.refuse(1)
	s.want(s.write(1), 1, order[:2]...)
	s.wantSpans(spans, s.span(order[1], "voted", 1))
}

// span is what the span of an attempt must tell.
func (s *scene) span(node int, reason string, attempt int) string {
	return fmt.Sprintf("keyroute.attempt=%d keyroute.coordinator=%s keyroute.reason=%s", attempt, s.Node(node).URL(), reason)
}

func (s *scene) wantSpans(spans *spanRecord, want ...string) {
	s.t.Helper()
	attempts, others := spans.attempts()
	if !slices.Equal(attempts, want) {
		s.t.Errorf("the spans of attempts have\n%q, want\n%q", attempts, want)
	}
	if len(others) > 0 {
		s.t.Errorf("other spans have %q", others)
	}
}
