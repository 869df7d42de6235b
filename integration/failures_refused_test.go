package integration

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// healthOff makes a client try a dead node again with each request.
func healthOff(o *middleware.Options) { o.Health.Disabled = true }

func TestOneOfSixRefuses(t *testing.T) {
	t.Parallel()
	for name, health := range map[string]func(*middleware.Options){
		"with health": func(*middleware.Options) {}, "without": healthOff,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount()
			s := newSceneOf(t, cluster.New(t, nodes(6)), withRetryer(a), health)
			s.refuse(3)
			// Each of its own keys is tried there first only if nothing is known
			// of its death; other keys and reads never notice.
			first := s.write(3)
			s.want(first, 1, s.order(3)[:2]...)
			calls := 1
			for node := range 6 {
				for range 10 {
					o := s.write(node)
					if o.attempts != 1 {
						t.Errorf("a write for node %d took %d attempts", node, o.attempts)
					}
					if node != 3 {
						s.want(o, 1, node)
					}
					out, err := s.client.GetItem(s.ctx, &dynamodb.GetItemInput{
						TableName: aws.String("items"), Key: item{"pk": keyPreferring(t, s.Cluster, node)}})
					if err != nil {
						t.Fatal(err)
					}
					if got := s.outcome(out.ResultMetadata); got.attempts != 1 || len(out.Item) != 1 {
						t.Errorf("a read took %d attempts and found %v", got.attempts, out.Item)
					}
					calls += 2
				}
			}
			a.want(t, calls)
		})
	}
}

// TestManyWritesToADeadNode would use up any quota if a write to a dead node
// cost anything of it.
func TestManyWritesToADeadNode(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a), healthOff)
	s.refuse(1)
	for range 500 {
		s.want(s.write(1), 1, 1, 0)
	}
	a.want(t, 500)
}

func TestFiveOfSixRefuse(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]func(*dynamodb.Options){
		"default retryer":      func(*dynamodb.Options) {},
		"NopRetryer":           withRetryer(aws.NopRetryer{}),
		"one attempt":          func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 },
		"adaptive retry mode":  func(o *dynamodb.Options) { o.RetryMode = aws.RetryModeAdaptive },
		"standard with limits": withRetryer(retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 2 })),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSceneOf(t, cluster.New(t, nodes(6)), client)
			s.refuse(0, 1, 2, 4, 5)
			s.want(s.write(5), 1, s.order(5)[:5]...) // node 3 is the fifth of them
			for node := range 6 {
				for range 5 {
					o := s.write(node)
					if o.attempts != 1 || o.Coordinator != s.Node(3).URL() {
						t.Errorf("a write for node %d went to %s in %d attempts", node, o.Coordinator, o.attempts)
					}
				}
			}
		})
	}
}

func TestFiveOfSixRefuseWithARetryerPerCall(t *testing.T) {
	t.Parallel()
	s := newScene(t, 6, healthOff)
	s.refuse(0, 1, 2, 4, 5)
	for _, r := range []aws.Retryer{aws.NopRetryer{}, newAccount(), retry.NewStandard()} {
		s.want(s.write(5, withRetryer(r)), 1, s.order(5)[:5]...)
	}
}

// TestBodyIsWholeAfterThreeMoves has a batch of 1 MB find three nodes dead.
func TestBodyIsWholeAfterThreeMoves(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(4), func(o *cluster.Options) { o.VerifySignatures = true })
	s := newSceneOf(t, c, nil, healthOff)
	s.Record(true)
	in, size := megabyte(t, c, 2)
	s.refuse(s.order(2)[:3]...)
	out, err := s.client.BatchWriteItem(s.ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	s.want(s.outcome(out.ResultMetadata), 1, s.order(2)...)
	s.wantWhole(in, size, s.order(2)[3])
}

// TestBodyIsWholeAfterThreeResets has each of three nodes read it and hang up.
func TestBodyIsWholeAfterThreeResets(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(4), func(o *cluster.Options) { o.VerifySignatures = true })
	s := newSceneOf(t, c, nil)
	s.Record(true)
	in, size := megabyte(t, c, 2)
	for _, node := range s.order(2)[:3] {
		s.Node(node).Inject(cluster.ResetAfterRequest().On("BatchWriteItem"))
	}
	out, err := s.client.BatchWriteItem(s.ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	s.want(s.outcome(out.ResultMetadata), 4, s.order(2)...)
	s.wantWhole(in, size, s.order(2)...)
}

// megabyte returns a batch that prefers a node, and what it must weigh.
func megabyte(t *testing.T, c *cluster.Cluster, node int) (*dynamodb.BatchWriteItemInput, int) {
	t.Helper()
	const count, each = 10, 100 << 10
	var list []types.WriteRequest
	for i := 0; len(list) < count; i++ {
		key := str(strings.Repeat("k", i+1))
		if preferred(t, c, key) == node {
			list = append(list, put(item{"pk": key, "payload": str(strings.Repeat(string(rune('a'+len(list))), each))}))
		}
	}
	return batch(writes{"items": list}), count * each
}

// wantWhole checks that a batch was received by these nodes, by each whole and
// validly signed for itself, and that all of it can be read.
func (s *scene) wantWhole(in *dynamodb.BatchWriteItemInput, size int, nodes ...int) {
	s.t.Helper()
	if got := asked(s.Cluster, "BatchWriteItem"); !slices.Equal(got, nodes) {
		s.t.Errorf("received by nodes %v, want %v", got, nodes)
	}
	var first []byte
	for _, r := range s.Requests() {
		if r.Operation != "BatchWriteItem" {
			continue
		}
		if !r.SignatureValid || r.Host != s.Node(r.Node).HostPort() {
			s.t.Errorf("node %d received a request to %s with a valid signature: %v", r.Node, r.Host, r.SignatureValid)
		}
		if first == nil {
			first = r.Body
		}
		if len(r.Body) < size || !bytes.Equal(r.Body, first) {
			s.t.Errorf("node %d received a body of %d bytes that is not the one sent", r.Node, len(r.Body))
		}
	}
	for _, w := range in.RequestItems["items"] {
		want := w.PutRequest.Item
		out, err := s.client.GetItem(s.ctx, &dynamodb.GetItemInput{
			TableName: aws.String("items"), Key: item{"pk": want["pk"]}})
		if err != nil {
			s.t.Fatal(err)
		}
		if got, ok := out.Item["payload"].(*types.AttributeValueMemberS); !ok || got.Value != want["payload"].(*types.AttributeValueMemberS).Value {
			s.t.Errorf("the item %v is not as it was written", want["pk"])
		}
	}
}

func TestAllNodesDown(t *testing.T) {
	t.Parallel()
	a := newAccount()
	s := newSceneOf(t, cluster.New(t, nodes(3)), withRetryer(a))
	s.refuse(0, 1, 2)
	_, err := s.client.BatchWriteItem(s.ctx, s.writeTo(1))
	s.wantRefusedBy(err, s.order(1)[2], 3)
	if exhausted, ok := errors.AsType[*retry.MaxAttemptsError](err); !ok || exhausted.Attempt != 3 {
		t.Errorf("%v is not the error of three attempts", err)
	}
	a.want(t, 3, 1, 2) // with the user's back-off, since all were tried

	_, err = s.client.BatchWriteItem(s.ctx, s.writeTo(1), withRetryer(aws.NopRetryer{}))
	s.wantRefusedBy(err, s.order(1)[2], 1)

	s.heal(2)
	if o := s.write(1); o.attempts != 1 || o.Coordinator != s.Node(2).URL() {
		t.Errorf("after a node came back a write went to %s in %d attempts", o.Coordinator, o.attempts)
	}
}

// TestAllNodesOfAClientDown is about nodes that are known to be down: they are
// tried all the same.
func TestAllNodesOfAClientDown(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3, downAtOnce)
	s.refuse(0, 1, 2)
	_, err := s.client.BatchWriteItem(s.ctx, s.writeTo(1), withRetryer(aws.NopRetryer{}))
	s.wantRefusedBy(err, s.order(1)[2], 1)
	s.wantDown(0, 1, 2)
	s.heal(2)
	s.want(s.write(1, withRetryer(aws.NopRetryer{})), 1, s.order(1)...)
}

// wantRefusedBy checks an error for its cause and for the node that it names.
func (s *scene) wantRefusedBy(err error, node, attempt int) {
	s.t.Helper()
	if !errors.Is(err, syscall.ECONNREFUSED) {
		s.t.Errorf("error is %v, want that of a refused connection", err)
	}
	coordinator, ok := errors.AsType[*middleware.CoordinatorError](err)
	if !ok {
		s.t.Fatalf("%v names no node", err)
	}
	if coordinator.Coordinator != s.Node(node).URL() || coordinator.Attempt != attempt {
		s.t.Errorf("the error is of %s and attempt %d, want node %d and attempt %d",
			coordinator.Coordinator, coordinator.Attempt, node, attempt)
	}
}
