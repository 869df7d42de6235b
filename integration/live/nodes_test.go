package live

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/middleware"
)

func TestAllNodesAreActiveAfterRefresh(t *testing.T) {
	r := newSite(t).route(middleware.None)
	if len(r.nodes) == 0 {
		t.Fatal("no node is known")
	}
	for _, status := range r.plugin.Nodes() {
		if status.State != discovery.Active || status.SuspectedFor != 0 {
			t.Errorf("%s is %v and suspected for %v", status.Endpoint, status.State, status.SuspectedFor)
		}
	}
	r.must(r.plugin.Refresh(r.ctx))
	stats := r.plugin.Stats()
	if stats.Refreshes.Refreshes == 0 || stats.Refreshes.Failures != 0 || stats.LastRefreshError != nil {
		t.Errorf("of %d refreshes %d failed, the last one with %v", stats.Refreshes.Refreshes, stats.Refreshes.Failures, stats.LastRefreshError)
	}
	var again []string
	for _, status := range r.plugin.Nodes() {
		again = append(again, status.Endpoint)
	}
	if !slices.Equal(again, r.nodes) {
		t.Errorf("the nodes are %v, and a moment later %v", r.nodes, again)
	}
}

// What has no key is spread over all nodes. That one of them receives nothing
// by chance is less likely than 1 in 10^20 per node.
func TestReadsAreSpread(t *testing.T) {
	s := newSite(t)
	table := s.table(types.ScalarAttributeTypeS)
	r := s.route(middleware.AnyWrite, known(table))
	received := map[string]int{}
	for range 50 * len(r.nodes) {
		out, err := r.GetItem(r.ctx, &dynamodb.GetItemInput{TableName: &table, Key: item{"pk": str("a")}})
		r.must(err)
		received[r.decision(out.ResultMetadata).Coordinator]++
	}
	for _, node := range r.nodes {
		if received[node] == 0 {
			t.Errorf("%s received no read", node)
		}
	}
}

func TestTheScopeOfADatacenter(t *testing.T) {
	s := newSite(t)
	table := s.table(types.ScalarAttributeTypeS)
	all := s.route(middleware.None)
	r := s.route(middleware.AnyWrite, known(table), func(o *middleware.Options) {
		o.Scope = discovery.Datacenter(datacenter(), discovery.Cluster())
	})
	if err := r.plugin.CheckScope(r.ctx); err != nil {
		t.Errorf("%v; KEYROUTE_TEST_DATACENTER must name a datacenter of the cluster", err)
	}
	if len(r.nodes) == 0 {
		t.Fatal("the datacenter has no node")
	}
	for _, node := range r.nodes {
		if !slices.Contains(all.nodes, node) {
			t.Errorf("%s is in the datacenter and not in the cluster; are there seeds in each datacenter?", node)
		}
		write := put(item{"pk": r.keys(node, 1)[0]})
		r.wantVoted(r.batch(table, write), []vote{{node, 1}})
	}
}

// A datacenter that does not exist is found out by who asks, and costs nobody a
// request. Old servers ignore which one they are asked for, which is found out,
// too.
func TestADatacenterThatDoesNotExist(t *testing.T) {
	s := newSite(t)
	table := s.table(types.ScalarAttributeTypeS)
	r := s.route(middleware.AnyWrite, known(table), func(o *middleware.Options) {
		o.Scope = discovery.Datacenter("nowhere", discovery.Cluster())
	})
	if err := r.plugin.CheckScope(r.ctx); err == nil || !strings.Contains(err.Error(), "datacenter:nowhere") {
		t.Errorf("CheckScope returned %v, want an error about datacenter:nowhere", err)
	}
	for _, node := range r.nodes {
		write := put(item{"pk": r.keys(node, 1)[0]})
		r.wantVoted(r.batch(table, write), []vote{{node, 1}})
	}
}
