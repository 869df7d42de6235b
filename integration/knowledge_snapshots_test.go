package integration

import (
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// A script is a run of calls, each of which is routed for another reason, so
// that what a plugin counts and reports of it can be compared with what must
// be.
type script struct {
	*cluster.Cluster
	t      *testing.T
	plugin *middleware.Plugin
	client *dynamodb.Client
}

// newScript starts 3 nodes with the table "orders", key "pk".
func newScript(t *testing.T, optFns ...func(*dynamodb.Options)) *script {
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	// The cache has room for one table.
	p := newPlugin(t, c, quiet, downAtOnce, func(o *middleware.Options) { o.SchemaCacheSize = 1 })
	return &script{Cluster: c, t: t, plugin: p, client: attach(t, c, p, optFns...)}
}

// scripted are the calls of the script by reason and operation, those of the
// plugin itself included.
var scripted = map[middleware.Reason]map[string]uint64{
	middleware.ReasonVoted:              {"BatchWriteItem": 3},
	middleware.ReasonKeyed:              {"PutItem": 1, "UpdateItem": 1},
	middleware.ReasonOperation:          {"GetItem": 1, "DescribeTable": 3},
	middleware.ReasonMode:               {"BatchWriteItem": 1, "DeleteItem": 1},
	middleware.ReasonNotReadModifyWrite: {"PutItem": 1},
	middleware.ReasonUnknownSchema:      {"PutItem": 1},
	middleware.ReasonNoKey:              {"PutItem": 1},
	middleware.ReasonBadKey:             {"PutItem": 1},
	middleware.ReasonNoVotes:            {"BatchWriteItem": 1},
}

const (
	scriptedFailovers       = 1
	scriptedHits            = 7 // once per table and call: 3 batches, 4 single writes
	scriptedMisses          = 2
	scriptedLookups         = 3
	scriptedLookupFailures  = 1
	scriptedEvictions       = 1
	scriptedRefreshFailures = 1
)

// run makes the calls. In the end node 2 is down.
func (s *script) run() {
	t := s.t
	t.Helper()
	v := newVoter(t, s.Cluster)
	s.setMode(middleware.None)
	send(t, s.client, batch(writes{"orders": v.puts(1)}))
	_, err := s.client.DeleteItem(deadline(t), &dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: item{"pk": v.key(0)}})
	s.must(err)
	s.setMode(middleware.RMW)
	s.must(s.put("orders", item{"pk": v.key(0)}))

	s.setMode(middleware.AnyWrite)
	send(t, s.client, batch(writes{"orders": v.puts(1)})) // has it looked up
	s.lookups(1)
	send(t, s.client, batch(writes{"orders": v.puts(0)}))
	send(t, s.client, batch(writes{"orders": v.puts(1, 1)}))
	s.must(s.put("orders", item{"pk": v.key(0)}))
	_, err = s.client.UpdateItem(deadline(t), &dynamodb.UpdateItemInput{TableName: aws.String("orders"), Key: item{"pk": v.key(0)}})
	s.must(err)
	_, err = s.client.GetItem(deadline(t), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: item{"pk": v.key(0)}})
	s.must(err)
	s.refused(s.put("orders", item{"id": v.key(0)}), "ValidationException") // has it looked up again
	s.lookups(2)
	s.refused(s.put("orders", item{"pk": &types.AttributeValueMemberBOOL{Value: true}}), "ValidationException")

	s.Inject(cluster.GarbleLocalNodes(500, "text/plain", "oops"))
	if err := s.plugin.Refresh(deadline(t)); err == nil || s.plugin.Stats().LastRefreshError == nil {
		t.Errorf("a refresh failed with %v, and is reported to have failed with %v", err, s.plugin.Stats().LastRefreshError)
	}
	heal(t, s.Cluster)
	refresh(t, s.plugin)
	if err := s.plugin.Stats().LastRefreshError; err != nil {
		t.Errorf("the last refresh is reported to have failed with %v", err)
	}

	s.Node(2).Refuse()
	send(t, s.client, batch(writes{"orders": v.puts(2)}))
	s.refused(s.put("ghost", item{"pk": v.key(0)}), "ResourceNotFoundException") // has it looked up
	s.lookups(3)
}

func (s *script) setMode(m middleware.Mode) {
	s.t.Helper()
	s.must(s.plugin.SetMode(m))
}

func (s *script) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) put(table string, i item) error {
	_, err := s.client.PutItem(deadline(s.t), &dynamodb.PutItemInput{TableName: &table, Item: i})
	return err
}

func (s *script) refused(err error, code string) {
	s.t.Helper()
	if got := apiError(s.t, err).ErrorCode(); got != code {
		s.t.Fatalf("refused with %s, want %s", got, code)
	}
}

// lookups waits until so many tables were looked up. They are looked up in the
// background.
func (s *script) lookups(n uint64) {
	s.t.Helper()
	eventually(s.t, "a table was looked up", func() bool { return s.plugin.Stats().Schemas.Lookups == n })
}

func TestStatsOfAScriptedRun(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.run()
	got := s.plugin.Stats()
	want := map[middleware.Reason]uint64{}
	for reason, operations := range scripted {
		for _, n := range operations {
			want[reason] += n
		}
	}
	if !maps.Equal(got.Requests, want) {
		t.Errorf("requests by reason are\n%v, want\n%v", got.Requests, want)
	}
	if got.Failovers != scriptedFailovers || got.SchemaHits != scriptedHits || got.SchemaMisses != scriptedMisses {
		t.Errorf("%d failovers, %d hits and %d misses, want %d, %d and %d",
			got.Failovers, got.SchemaHits, got.SchemaMisses, scriptedFailovers, scriptedHits, scriptedMisses)
	}
	if want := (discovery.SchemaCounters{
		Lookups: scriptedLookups, Failures: scriptedLookupFailures, Evictions: scriptedEvictions, Size: 1,
	}); got.Schemas != want {
		t.Errorf("the schema cache counts %+v, want %+v", got.Schemas, want)
	}
	if err := got.LastSchemaError; err == nil || !strings.Contains(err.Error(), "ghost") || apiError(t, err).ErrorCode() != "ResourceNotFoundException" {
		t.Errorf("the last lookup that failed is reported as %v", err)
	}
	if r := got.Refreshes; r.Failures != scriptedRefreshFailures || r.Changes != 2 || r.Refreshes < 3 || r.Probes < 2 {
		t.Errorf("refreshing counts %+v, want 1 failure, 2 changes, and of the others a few", r)
	}
}

func TestNodesOfAScriptedRun(t *testing.T) {
	t.Parallel()
	started := time.Now()
	p, err := middleware.New(seeds("http://127.0.0.7:8000", "http://127.0.0.10:8000"))
	if err != nil {
		t.Fatal(err)
	}
	defer closePlugin(t, p)
	wantStatuses(t, p, started, "http://127.0.0.10:8000 quarantined", "http://127.0.0.7:8000 quarantined")

	s := newScript(t)
	wantStatuses(t, s.plugin, started, s.Node(0).URL()+" active", s.Node(1).URL()+" active", s.Node(2).URL()+" active")
	turned := time.Now()
	s.run()
	wantStatuses(t, s.plugin, started, s.Node(0).URL()+" active", s.Node(1).URL()+" active", s.Node(2).URL()+" down")
	dead := s.plugin.Nodes()[2]
	if dead.Since.Before(turned) {
		t.Errorf("node 2 is down since %v, before it died", dead.Since)
	}
	if dead.SuspectedFor < 0 || dead.SuspectedFor > time.Second {
		t.Errorf("node 2 is passed over for %v, want 1s at most", dead.SuspectedFor)
	}

	// A snapshot is the caller's own.
	nodes := s.plugin.Nodes()
	nodes[0] = discovery.Status{}
	if s.plugin.Nodes()[0].Endpoint != s.Node(0).URL() {
		t.Error("changing a snapshot changed what the plugin knows")
	}
	stats := s.plugin.Stats()
	clear(stats.Requests)
	if len(s.plugin.Stats().Requests) == 0 {
		t.Error("changing a snapshot changed what the plugin counts")
	}
}

// wantStatuses checks the nodes that a plugin knows, their states, and that it
// came to know them after a moment.
func wantStatuses(t *testing.T, p *middleware.Plugin, after time.Time, want ...string) {
	t.Helper()
	var got []string
	for _, status := range p.Nodes() {
		got = append(got, status.Endpoint+" "+status.State.String())
		if status.Since.Before(after) || status.Since.After(time.Now()) {
			t.Errorf("%s is %v since %v", status.Endpoint, status.State, status.Since)
		}
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("the nodes are %v, want %v", got, want)
	}
}

// Whoever watches a plugin does not disturb it, nor is he disturbed.
func TestSnapshotsWhileEverythingChanges(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3, brisk)
	stop := make(chan struct{})
	var watching sync.WaitGroup
	defer watching.Wait()
	defer close(stop)
	for range 2 {
		watching.Go(func() {
			var last uint64
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				for i, status := range s.plugin.Nodes() {
					if status.Endpoint == "" || status.Since.IsZero() {
						t.Errorf("node %d of a snapshot is %+v", i, status)
					}
				}
				stats := s.plugin.Stats()
				if n := stats.Requests[middleware.ReasonVoted]; n < last {
					t.Errorf("the count of requests went from %d to %d", last, n)
				} else {
					last = n
				}
			}
		})
	}
	underLoad(t, s.client, func() {
		for range 3 {
			moreWrites(t, s.Cluster, 30)
			s.Node(1).Refuse()
			s.Node(2).Leave()
			moreWrites(t, s.Cluster, 30)
			s.heal(1)
			s.Node(2).Rejoin()
		}
	})
	stats := s.plugin.Stats()
	if got := stats.Requests[middleware.ReasonVoted]; got < 180 || stats.SchemaHits != got || stats.SchemaMisses != 0 {
		t.Errorf("%d requests, %d hits and %d misses; want as many hits as requests", got, stats.SchemaHits, stats.SchemaMisses)
	}
}
