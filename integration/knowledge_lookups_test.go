package integration

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// maxLookups is how many tables are looked up at a time.
const maxLookups = 4

// A gauge counts the requests of an operation that are under way, as the client
// sees it.
type gauge struct {
	operation string

	mu            sync.Mutex
	running, most int
}

func (g *gauge) watch(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	if operationOf(r) == g.operation {
		g.add(1)
		defer g.add(-1)
	}
	return next.RoundTrip(r)
}

func (g *gauge) add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running += n
	g.most = max(g.most, g.running)
}

// The first writes to many tables, all at once, must neither wait for what they
// need to know nor flood the cluster with questions.
func TestAThousandUnknownTables(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	v, pool := newVoter(t, c), c.HTTPClient()
	var batches []*dynamodb.BatchWriteItemInput
	for i := range 10 {
		w := writes{}
		for j := range 100 {
			table := fmt.Sprintf("table-%d-%d", i, j)
			createTableByHand(t, c, pool, table)
			w[table] = v.puts(i % 3)
		}
		batches = append(batches, batch(w))
	}
	g := &gauge{operation: "DescribeTable"}
	p := newPlugin(t, c, mode(middleware.AnyWrite), quiet, func(o *middleware.Options) { o.SchemaTimeout = patience })
	client := attach(t, c, p, through(c, g.watch))

	answer := make(chan struct{})
	c.Inject(cluster.Hold(answer).On("DescribeTable"))
	for _, in := range slices.Concat(batches, batches) {
		wantNoVote(t, client, in)
	}
	eventually(t, "lookups begin", func() bool { return c.Count("DescribeTable") >= maxLookups })
	wantCount(t, c, "DescribeTable", maxLookups) // none of which was answered

	close(answer)
	eventually(t, "all tables are known", func() bool { return p.Stats().Schemas.Size == 1000 })
	for i, in := range batches {
		wantVote(t, c, client, in, i%3)
	}
	wantCount(t, c, "DescribeTable", 1000)
	if g.most > maxLookups {
		t.Errorf("%d tables were looked up at a time, want %d at most", g.most, maxLookups)
	}
}

// createTableByHand makes a table with the key "pk", without all that the SDK
// does for a call: most of the test would be that.
func createTableByHand(t *testing.T, c *cluster.Cluster, pool *http.Client, table string) {
	t.Helper()
	body := fmt.Sprintf(`{"TableName":%q,"BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}`, table)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.Node(0).URL(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.CreateTable")
	response, err := pool.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("CreateTable %s: status %d", table, response.StatusCode)
	}
}

func TestATableThatDoesNotExistIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	log := &logbook{}
	p := newPlugin(t, c, mode(middleware.AnyWrite), log.option)
	client := attach(t, c, p)
	v := newVoter(t, c)
	in := batch(writes{"ghost": v.puts(1)})
	refused := func() {
		t.Helper()
		_, err := client.BatchWriteItem(deadline(t), in)
		if code := apiError(t, err).ErrorCode(); code != "ResourceNotFoundException" {
			t.Fatalf("a write to a table that does not exist failed with %s", code)
		}
	}
	refused()
	eventually(t, "the table was looked up", func() bool { return p.Stats().Schemas.Lookups == 1 })
	for range 20 {
		refused()
	}
	settle(t, c, client)
	wantCount(t, c, "DescribeTable", 2) // one of them by settle
	log.wantLines(t, "table ghost")

	// Somebody else makes it: the client is right to be silent for a while.
	createTable(t, c, "ghost", "pk", "S")
	wantNoVote(t, client, in)
	if _, err := c.Client().DeleteTable(deadline(t), &dynamodb.DeleteTableInput{TableName: aws.String("ghost")}); err != nil {
		t.Fatal(err)
	}

	createTableWith(t, client, "ghost", "pk", "S")
	wantVote(t, c, client, in, 1)
	wantCount(t, c, "DescribeTable", 2)
}

// settle has a table looked up that needs it, and waits for that. A lookup that
// was asked for before is over by then, or at least under way.
func settle(t *testing.T, c *cluster.Cluster, client *dynamodb.Client) {
	t.Helper()
	createTable(t, c, "settled", "pk", "S")
	eventuallyVotes(t, client, batch(writes{"settled": {put(item{"pk": str("a")})}}))
}

func TestRoutingWithoutPermissionToDescribeTables(t *testing.T) {
	t.Parallel()
	for name, logger := range map[string]func(*logbook) (func(*middleware.Options), func(*dynamodb.Options)){
		"logger of the plugin": func(l *logbook) (func(*middleware.Options), func(*dynamodb.Options)) {
			return l.option, func(*dynamodb.Options) {}
		},
		"logger of the client": func(l *logbook) (func(*middleware.Options), func(*dynamodb.Options)) {
			return func(*middleware.Options) {}, func(o *dynamodb.Options) { o.Logger = l }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster.New(t, nodes(3))
			createTable(t, c, "orders", "pk", "S")
			c.Inject(cluster.Answer(400, "AccessDeniedException", "not for you").On("DescribeTable"))
			log := &logbook{}
			ofPlugin, ofClient := logger(log)
			p := newPlugin(t, c, mode(middleware.AnyWrite), ofPlugin)
			client := attach(t, c, p, ofClient)
			in := batch(writes{"orders": newVoter(t, c).puts(1)})
			wantNoVote(t, client, in)
			eventually(t, "the table was looked up", func() bool { return p.Stats().Schemas.Lookups == 1 })
			c.ResetCounts()
			for range spreadCalls {
				wantNoVote(t, client, in)
			}
			checkSpread(t, c, "BatchWriteItem")
			wantCount(t, c, "DescribeTable", 0)
			log.wantLines(t, "WARN keyroute: writes to table orders are routed without affinity")
		})
	}
}
