package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
)

// seedsDemo makes a demo on a cluster that is not its own.
func seedsDemo(t *testing.T, c *cluster.Cluster, seeds ...string) (*demo, *bytes.Buffer) {
	t.Helper()
	f, err := parseFlags([]string{"-seeds", strings.Join(seeds, ","), "-input", "-"})
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, customer := range "abcdefghijklmnopqrstuvwxyz" {
		lines.WriteString(putLine(string(customer), "1") + putLine(string(customer), "2"))
	}
	input, err := f.readInput(strings.NewReader(lines.String()+deleteLine("a")), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.openSite()
	if err != nil {
		t.Fatal(err)
	}
	s.options.HTTPClient = c.HTTPClient()
	var output bytes.Buffer
	return &demo{
		site: s, input: input, scenarios: f.scenarios,
		report: newReport(&output, true), progress: newProgress(&output, true),
	}, &output
}

func tableNames(t *testing.T, c *cluster.Cluster) []string {
	t.Helper()
	out, err := c.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	return out.TableNames
}

func TestRealCluster(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) {
		o.Nodes = 3
		o.VerifySignatures = true
		o.Credentials = aws.Credentials{AccessKeyID: "demo", SecretAccessKey: "demo"}
	})
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	d, output := seedsDemo(t, c, c.Node(1).URL(), c.Node(2).URL())
	if err := d.perform(boundedContext(t)); err != nil {
		t.Fatal(err)
	}
	want(t, "output", output.String(),
		"3 nodes, found through "+c.Node(1).URL(),
		"the batches that each node answered, as the client knows",
		"none, because this is not the demo's own cluster",
		"25 items, each as it was written last", "OK: ")
	for _, o := range d.outcomes {
		answered := 0
		for _, n := range o.requests {
			answered += n.count
		}
		if len(o.requests) != 3 || answered != len(d.input.batches) {
			t.Errorf("%s: nodes answered %v, want %d in all", o.name, o.requests, len(d.input.batches))
		}
	}
	if bare := d.outcomes[0].requests; bare[1].count != len(d.input.batches) {
		t.Errorf("the bare client talked to %v, not to the first seed", bare)
	}
	if names := tableNames(t, c); len(names) != 0 {
		t.Errorf("tables are left over: %q", names)
	}
}

func TestTablesThatAreThereAndEmptyAreKept(t *testing.T) {
	c := cluster.New(t)
	definition := tables[0].definition("keyroute_demo_orders")
	if _, err := c.Client().CreateTable(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	d, _ := seedsDemo(t, c, c.Node(0).URL())
	if err := d.perform(boundedContext(t)); err != nil {
		t.Fatal(err)
	}
	if names := tableNames(t, c); len(names) != 1 || names[0] != *definition.TableName {
		t.Errorf("tables are %q, want the one that was there", names)
	}
	if items, err := d.site.scan(t.Context(), c.Client(), tables[0], 0); err != nil || len(items) != 0 {
		t.Errorf("%d items are left over, %v", len(items), err)
	}
}

func TestTablesOfOthersAreLeftAlone(t *testing.T) {
	c := cluster.New(t)
	client := c.Client()
	if _, err := client.CreateTable(t.Context(), tables[1].definition("keyroute_demo_events")); err != nil {
		t.Fatal(err)
	}
	item := itemOf(t, `{"shop":{"N":"1"},"at":{"S":"9"}}`)
	in := &dynamodb.PutItemInput{TableName: aws.String("keyroute_demo_events"), Item: item}
	if _, err := client.PutItem(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	d, _ := seedsDemo(t, c, c.Node(0).URL())
	err := d.perform(boundedContext(t))
	if err == nil {
		t.Fatal("a table with items was used")
	}
	want(t, "error", err.Error(), "the table keyroute_demo_events is there already and not empty")
	if items, err := d.site.scan(t.Context(), client, tables[1], 0); err != nil || len(items) != 1 {
		t.Errorf("%d items are left, %v", len(items), err)
	}
	if names := tableNames(t, c); len(names) != 1 {
		t.Errorf("tables are %q", names)
	}
}

func TestTablesWithOtherKeysAreLeftAlone(t *testing.T) {
	c := cluster.New(t)
	if _, err := c.Client().CreateTable(t.Context(), tables[1].definition("keyroute_demo_orders")); err != nil {
		t.Fatal(err)
	}
	d, _ := seedsDemo(t, c, c.Node(0).URL())
	err := d.perform(boundedContext(t))
	if err == nil {
		t.Fatal("a table with other keys was used")
	}
	want(t, "error", err.Error(), "the table keyroute_demo_orders is there already, with other keys")
}

func TestClusterThatDoesNotAnswer(t *testing.T) {
	c := cluster.New(t)
	for _, n := range c.Nodes() {
		n.Refuse()
	}
	d, output := seedsDemo(t, c, c.Node(0).URL())
	err := d.perform(boundedContext(t))
	if err == nil {
		t.Fatal("no error without a cluster")
	}
	want(t, "error", err.Error(), "asking for the nodes of the cluster: ", c.Node(0).HostPort())
	if output.Len() > 0 {
		t.Errorf("output is %s", output)
	}
}

// TestEndpointThatIsNoNode has the bare client talk to a name for the cluster.
func TestEndpointThatIsNoNode(t *testing.T) {
	c := cluster.New(t)
	d, _ := seedsDemo(t, c, c.Node(0).URL())
	ring, err := d.site.nodes(boundedContext(t))
	if err != nil {
		t.Fatal(err)
	}
	o := newOutcome(d.scenarios[0])
	o.answered["http://alternator.example:8000"] = 7
	o.countRequests(d.site, ring)
	if len(o.requests) != 4 || o.requests[3] != (nodeCount{"http://alternator.example:8000", 7}) {
		t.Errorf("requests are %v", o.requests)
	}
}
