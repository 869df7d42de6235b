package integration

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/internal/vectors"
	"github.com/keyroute/keyroute/middleware"
)

// Every node answers 500, and there are more attempts than nodes: in small rings
// twice as many and one more. The operations take turns.
func TestRetriesOfASingleWriteFollowThePlanVectorsAndCycle(t *testing.T) {
	for i, p := range vectors.Plans(t) {
		write := singleWrites[i%len(singleWrites)]
		t.Run(fmt.Sprintf("%d nodes, seed %d, %s", len(p.Nodes), p.Seed, write.operation), func(t *testing.T) {
			var asked list[string]
			client := clientOfSeeds(t, p.Nodes, func(r *http.Request) (*http.Response, error) {
				if operationOf(r) != "" {
					asked.add(r.URL.Scheme + "://" + r.URL.Host)
				}
				return reply(r, http.StatusInternalServerError, internalOops), nil
			})
			attempts := len(p.Nodes) + min(len(p.Nodes), 20) + 1
			_, err := write.call(deadline(t), client, "orders", item{"pk": keyHashing(t, p.Seed)}, impatient(attempts))

			got := asked.take()
			if len(got) != attempts {
				t.Fatalf("%d attempts were made, want %d", len(got), attempts)
			}
			for i, node := range got {
				if want := p.Order[i%len(p.Order)]; node != want {
					t.Fatalf("attempt %d went to %s, want %s", i+1, node, want)
				}
			}
			if e := coordinatorError(t, err); e.Coordinator != got[attempts-1] || e.Attempt != attempts {
				t.Errorf("the error is of %s in attempt %d, want %s in attempt %d", e.Coordinator, e.Attempt, got[attempts-1], attempts)
			}
			if api := apiError(t, err); api.ErrorCode() != "InternalServerError" {
				t.Errorf("the error is %s, want that of the server", api.ErrorCode())
			}
		})
	}
}

// clientOfSeeds returns a client that knows the nodes as its seeds: some of the
// vectors have more nodes than /localnodes could list, such as 10.0.0.640.
// Nobody tells it that some of them are well and others are not.
func clientOfSeeds(t *testing.T, seeds []string, do httpClientFunc) *dynamodb.Client {
	p, err := middleware.New(mode(middleware.AnyWrite), keys("orders", "pk"), func(o *middleware.Options) {
		o.Seeds = seeds
		o.Health.Disabled = true
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closePlugin(t, p) })
	return dynamodb.New(clientOptions(do), p.Attach)
}

// The second node of the plan is as much a property of the key as the first.
func TestADecisionTellsOfTheRetriesOfASingleWrite(t *testing.T) {
	b := &vectors.Batch{Nodes: tenAddresses(), PartitionKeys: map[string]string{"orders": "pk"}}
	for failures := range 4 {
		c := newVectorCluster(t, b)
		c.fail = failures
		client := c.client(t, b)
		key := str("user-001")
		plan := planOf(t, mustRing(t, b.Nodes), key)
		for _, write := range singleWrites {
			metadata, err := write.call(deadline(t), client, "orders", item{"pk": key})
			if err != nil {
				t.Fatal(err)
			}
			d := decision(t, metadata)
			want := plan[:failures+1]
			if d.Reason != middleware.ReasonKeyed || d.Preferred != plan[0] || d.Coordinator != want[failures] || !slices.Equal(d.Tried, want) || d.Votes != nil {
				t.Errorf("%s after %d failures: %+v, want %v tried", write.operation, failures, d, want)
			}
			if sent := c.batches.take(); !slices.Equal(sent, want) {
				t.Errorf("%s after %d failures was sent to %v, want %v", write.operation, failures, sent, want)
			}
		}
	}
}
