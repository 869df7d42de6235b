package integration

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

func TestThePlanStartsOverAfterItsLastNode(t *testing.T) {
	for name, test := range map[string]struct {
		nodes, attempts int
		prefer          int
		failures        int // of each node
		asked           []int
		status          []int
	}{
		"A B A B A": {2, 5, 1, 2, []int{1, 0, 1, 0, 1}, []int{500, 500, 500, 500, 200}},
		"A A A":     {1, 3, 0, 2, []int{0, 0, 0}, []int{500, 500, 200}},
		"A B C A":   {3, 4, 2, 1, []int{2, 0, 1, 2}, []int{500, 500, 500, 200}},
	} {
		t.Run(name, func(t *testing.T) {
			c, client := votingCluster(t, test.nodes, "orders")
			c.Inject(oops().Times(test.failures))
			c.Record(true)
			d := send(t, client, batch(writes{"orders": newVoter(t, c).puts(test.prefer)}), impatient(test.attempts))
			if got := asked(c, "BatchWriteItem"); !slices.Equal(got, test.asked) {
				t.Errorf("the attempts went to the nodes %v, want %v", got, test.asked)
			}
			var status []int
			for _, r := range requestsOf(c, "BatchWriteItem") {
				status = append(status, r.Status)
			}
			if !slices.Equal(status, test.status) {
				t.Errorf("the answers were %v, want %v", status, test.status)
			}
			if got := indexes(c, d.Tried); !slices.Equal(got, test.asked) {
				t.Errorf("the decision tells of the nodes %v, want %v", got, test.asked)
			}
		})
	}
}

// A request without affinity has a plan, too: random, but one for all of its
// attempts.
func TestAnOrdinaryPlanTriesEveryNodeBeforeItStartsOver(t *testing.T) {
	c, client := votingCluster(t, 3, "orders")
	c.Inject(cluster.Answer(500, "InternalServerError", "oops").On("GetItem"))
	c.Record(true)
	_, err := client.GetItem(deadline(t), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: item{"pk": str("a")}}, impatient(7))
	if e := coordinatorError(t, err); e.Attempt != 7 {
		t.Errorf("the error is of attempt %d, want 7", e.Attempt)
	}
	got := asked(c, "GetItem")
	if len(got) != 7 {
		t.Fatalf("the attempts went to the nodes %v, want 7", got)
	}
	if first := slices.Sorted(slices.Values(got[:3])); !slices.Equal(first, []int{0, 1, 2}) {
		t.Errorf("the first attempts went to the nodes %v, want each once", got[:3])
	}
	if !slices.Equal(got[3:6], got[:3]) || got[6] != got[0] {
		t.Errorf("the attempts went to the nodes %v, want the first three again and again", got)
	}
}

// The SDK makes what RetryMaxAttempts says, however it was said.
func TestAttemptsStayTheUsers(t *testing.T) {
	c := cluster.New(t, nodes(2))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	attach(t, c, p)
	c.Inject(oops())
	in := batch(writes{"orders": {put(item{"pk": str("a")})}})
	type options = []func(*dynamodb.Options)
	five := func(o *dynamodb.Options) { o.RetryMaxAttempts = 5 }
	noRetryer := func(o *dynamodb.Options) { o.Retryer = nil }
	noDelay := impatient(2) // of which RetryMaxAttempts makes more

	for name, test := range map[string]struct {
		client, call options
		want         int
	}{
		"client: five, attach":                  {options{noDelay, five, p.Attach}, nil, 5},
		"client: attach, five":                  {options{noDelay, p.Attach, five}, nil, 5},
		"client: attach before everything":      {options{p.Attach, noDelay, five}, nil, 5},
		"client: attach twice around five":      {options{noDelay, p.Attach, five, p.Attach}, nil, 5},
		"client: attach, call: five":            {options{noDelay, p.Attach}, options{five}, 5},
		"client: five, call: attach":            {options{noDelay, five}, options{p.Attach}, 5},
		"client: both, call: attach":            {options{noDelay, five, p.Attach}, options{p.Attach}, 5},
		"call: five, attach":                    {options{noDelay}, options{five, p.Attach}, 5},
		"call: attach, five":                    {options{noDelay}, options{p.Attach, five}, 5},
		"client: attach, call: five, attach":    {options{noDelay, p.Attach}, options{five, p.Attach}, 5},
		"client: attach, call: a Retryer":       {options{p.Attach}, options{noDelay}, 2},
		"call: a Retryer, attach, five":         {nil, options{noDelay, p.Attach, five}, 5},
		"no Retryer on the client":              {options{noRetryer, p.Attach}, nil, 4}, // the SDK's default for DynamoDB
		"no Retryer on the client, five":        {options{noRetryer, p.Attach, five}, nil, 5},
		"five, no Retryer on the client":        {options{five, noRetryer, p.Attach}, nil, 5},
		"no Retryer on the call":                {nil, options{noRetryer, p.Attach}, 4},
		"no Retryer on the call, five":          {nil, options{noRetryer, p.Attach, five}, 5},
		"attached already, no Retryer, again":   {options{p.Attach}, options{noRetryer, p.Attach}, 4},
		"NopRetryer":                            {options{withRetryer(aws.NopRetryer{}), p.Attach}, nil, 1},
		"NopRetryer, five":                      {options{withRetryer(aws.NopRetryer{}), p.Attach, five}, nil, 1},
		"a Retryer of the first version":        {options{withRetryer(oldRetryer{}), p.Attach}, nil, 3},
		"a Retryer of the first version, twice": {options{withRetryer(oldRetryer{}), p.Attach, p.Attach}, options{p.Attach}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			c.ResetCounts()
			_, err := c.Client(test.client...).BatchWriteItem(deadline(t), in, test.call...)
			if e := coordinatorError(t, err); e.Attempt != test.want {
				t.Errorf("the error is of attempt %d, want %d", e.Attempt, test.want)
			}
			if got := c.Count("BatchWriteItem"); got != test.want {
				t.Errorf("%d attempts were made, want %d", got, test.want)
			}
			if first, second := c.Node(0).Count("BatchWriteItem"), c.Node(1).Count("BatchWriteItem"); max(first, second)-min(first, second) > 1 {
				t.Errorf("of the attempts %d went to one node and %d to the other", first, second)
			}
		})
	}
}

// oldRetryer is an aws.Retryer and not an aws.RetryerV2.
type oldRetryer struct{}

func (oldRetryer) IsErrorRetryable(error) bool                       { return true }
func (oldRetryer) MaxAttempts() int                                  { return 3 }
func (oldRetryer) RetryDelay(int, error) (time.Duration, error)      { return 0, nil }
func (oldRetryer) GetInitialToken() (releaseToken func(error) error) { return noToken }
func (oldRetryer) GetRetryToken(context.Context, error) (func(error) error, error) {
	return noToken, nil
}

func noToken(error) error { return nil }

// A user's Retryer is asked the same with the plugin as without it, when every
// attempt is answered, however often it is wrapped.
func TestTheRetryerIsAskedAsWithoutThePlugin(t *testing.T) {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, mode(middleware.AnyWrite), keys("orders", "pk"))
	attach(t, c, p)
	in := batch(writes{"orders": {put(item{"pk": str("a")})}})
	four := func(o *dynamodb.Options) { o.RetryMaxAttempts = 4 }
	type options = []func(*dynamodb.Options)

	for name, test := range map[string]struct{ client, call options }{
		"bare":                      {options{four}, nil},
		"attached":                  {options{four, p.Attach}, nil},
		"attached twice":            {options{p.Attach, four, p.Attach}, nil},
		"attached to the call also": {options{four, p.Attach}, options{p.Attach, p.Attach}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Inject(oops().Times(1))
			defer heal(t, c)
			if name == "bare" { // all of its attempts go to one node
				c.Node(0).Inject(oops().Times(2))
			}
			a := newAccount()
			client := c.Client(append(options{withRetryer(a)}, test.client...)...)
			if _, err := client.BatchWriteItem(deadline(t), in, test.call...); err != nil {
				t.Fatal(err)
			}
			a.want(t, 4, 1, 2, 3)
		})
	}
}
