package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// A log is for what a person must act on. A cluster that is in trouble for a
// while must not fill it, and what is in it may be read by anybody.
func TestLogsAreShortAndTellNoSecrets(t *testing.T) {
	t.Parallel()
	credentials := aws.Credentials{AccessKeyID: "AKIDSECRET", SecretAccessKey: "hunter2-secret-key"}
	c := cluster.New(t, nodes(3), verified, func(o *cluster.Options) { o.Credentials = credentials })
	for i := range 5 {
		createTable(t, c, fmt.Sprint("table-", i), "pk", "S")
	}
	const secretKey, secretValue = "secret-key-of-an-item", "secret-value-of-an-item"
	log := &logbook{}
	p := newPlugin(t, c, brisk, mode(middleware.AnyWrite), log.option) // the SDK writes lines of its own to that of the client
	client := attach(t, c, p, impatient(4))

	calls := 0
	write := func(table string) {
		calls++
		in := batch(writes{table: {put(item{"pk": str(fmt.Sprint(secretKey, calls%7)), "v": str(secretValue)})}})
		_, _ = client.BatchWriteItem(deadline(t), in) // some fail, as they must
	}
	troubles := []func(){
		func() { c.Inject(cluster.Answer(400, "AccessDeniedException", "not for you").On("DescribeTable")) },
		func() { c.Inject(cluster.GarbleLocalNodes(500, "text/plain", "oops")) },
		func() { c.Node(1).Refuse() },
		func() { c.Inject(oops()) },
		func() { c.Inject(cluster.ResetAfterRequest()) },
		func() { c.Inject(cluster.ResetMidResponse()) },
		func() { c.Inject(cluster.Answer(400, "ValidationException", secretValue).On("BatchWriteItem")) },
		func() { c.Inject(cluster.Answer(400, "UnrecognizedClientException", "wrong signature")) },
		func() { c.SetListed([]string{"127.0.0.1", "127.0.0.1:80", "550e8400-e29b-41d4-a716-446655440000"}) },
		c.DelistAll,
		func() { c.Node(0).Refuse(); c.Node(1).Refuse(); c.Node(2).Refuse() },
	}
	for _, begin := range troubles {
		begin()
		refreshes := p.Stats().Refreshes.Refreshes
		for i := range 10 {
			write(fmt.Sprint("table-", i%5))
		}
		write("a table that does not exist")
		eventually(t, "the list is fetched again", func() bool { return p.Stats().Refreshes.Refreshes >= refreshes+3 })
		c.SetListed(nil)
		heal(t, c)
		refresh(t, p)
	}
	closePlugin(t, p)

	lines := log.take()
	if len(lines) == 0 || len(lines) >= 20 {
		t.Errorf("%d lines were logged, want some, but less than 20:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "WARN keyroute: ") {
			t.Errorf("a line that is no warning of the plugin: %s", line)
		}
		for _, secret := range []string{credentials.AccessKeyID, credentials.SecretAccessKey, secretKey, secretValue, "Signature"} {
			if strings.Contains(line, secret) {
				t.Errorf("a line tells %s: %s", secret, line)
			}
		}
	}
	if slices.Sort(lines); len(slices.Compact(lines)) < len(lines)-len(troubles) {
		t.Errorf("lines are logged again and again:\n%s", strings.Join(lines, "\n"))
	}
}

// Without faults there is nothing to say.
func TestNothingIsLoggedWhileAllIsWell(t *testing.T) {
	t.Parallel()
	log := &logbook{}
	s := newSceneOf(t, cluster.New(t, nodes(3)), func(o *dynamodb.Options) { o.Logger = log }, brisk)
	underLoad(t, s.client, func() {
		moreWrites(t, s.Cluster, 50)
		n := s.join(s.Join)
		eventually(t, "a node joins", func() bool { return len(s.plugin.Nodes()) == 4 })
		n.Leave()
		moreWrites(t, s.Cluster, 50)
	})
	log.wantLines(t)
}
