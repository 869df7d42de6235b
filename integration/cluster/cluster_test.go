package cluster_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
)

func TestNodesShareOnePortAndOneStore(t *testing.T) {
	c := cluster.New(t)
	port := strconv.Itoa(c.Port())
	equal(t, "nodes", len(c.Nodes()), 3)
	for i, n := range c.Nodes() {
		equal(t, "address", n.Address(), fmt.Sprintf("127.0.0.%d", i+1))
		equal(t, "host and port", n.HostPort(), n.Address()+":"+port)
		equal(t, "URL", n.URL(), "http://"+n.HostPort())
		equal(t, "index", n.Index(), i)
		for _, where := range []string{n.Address(), n.HostPort(), n.URL()} {
			equal(t, "node at "+where, c.NodeAt(where), n)
		}
	}
	equal(t, "node elsewhere", c.NodeAt("http://127.0.0.200:1"), nil)
	if want := []string{c.Node(0).URL(), c.Node(1).URL(), c.Node(2).URL()}; !slices.Equal(c.Seeds(), want) {
		t.Errorf("seeds: got %v, want %v", c.Seeds(), want)
	}

	client := c.Client()
	createOrders(t, client, false)
	for i, n := range c.Nodes() {
		if err := put(t.Context(), client, strconv.Itoa(i), to(n)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range c.Nodes() {
		equal(t, "item written through another node is there", has(t, client, strconv.Itoa(i)), true)
	}
}

func TestCounters(t *testing.T) {
	c := cluster.New(t)
	client := c.Client()
	createOrders(t, client, false)
	for range 3 {
		if err := put(t.Context(), client, "a", to(c.Node(1))); err != nil {
			t.Fatal(err)
		}
	}
	get(t, c, c.Node(1).URL()+"/localnodes")
	get(t, c, c.Node(2).URL()+"/localnodes")
	get(t, c, c.Node(2).URL()+"/localnodes")
	equal(t, "PutItem on node 0", c.Node(0).Count("PutItem"), 0)
	equal(t, "CreateTable on node 0", c.Node(0).Count("CreateTable"), 1)
	equal(t, "PutItem on node 1", c.Node(1).Count("PutItem"), 3)
	equal(t, "localnodes on node 1", c.Node(1).Count(cluster.LocalNodes), 1)
	equal(t, "PutItem in all", c.Count("PutItem"), 3)
	want := map[string]int{"PutItem": 3, cluster.LocalNodes: 1, cluster.Operations: 3}
	if got := c.Node(1).Counts(); !maps.Equal(got, want) {
		t.Errorf("node 1 counts %v, want %v", got, want)
	}
	equal(t, "operations in all", c.Count(cluster.Operations), 4)
	equal(t, "connections of node 2", c.Node(2).Connections(), 2) // each get is by a client of its own

	await(t, c.Node(1), "PutItem", 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	equal(t, "error of waiting in vain", c.Node(1).AwaitCount(ctx, "PutItem", 4), context.Canceled)

	c.ResetCounts()
	equal(t, "PutItem after the reset", c.Count("PutItem"), 0)
	equal(t, "connections after the reset", c.Node(2).Connections(), 0)
}

func TestOptionsAreChecked(t *testing.T) {
	for name, set := range map[string]func(*cluster.Options){
		"too many nodes":      func(o *cluster.Options) { o.Nodes = cluster.MaxNodes + 1 },
		"fewer than no nodes": func(o *cluster.Options) { o.Nodes = -1 },
		"two IPv6 nodes":      func(o *cluster.Options) { o.Nodes, o.IPv6 = 2, true },
		"no such port":        func(o *cluster.Options) { o.Port = 65536 },
		"no such batch":       func(o *cluster.Options) { o.MaxBatchWrites = -1 },
		"nameless":            func(o *cluster.Options) { o.TLS, o.TLSOnlyNames = true, true },
		"names without TLS":   func(o *cluster.Options) { o.TLSNames, o.TLSOnlyNames = []string{"alternator.test"}, true },
		"no such record":      func(o *cluster.Options) { o.RecordLimit = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := cluster.Start(set)
			if err == nil {
				c.Close()
				t.Error("the cluster started")
			}
		})
	}
}

func TestCloseTwice(t *testing.T) {
	c := cluster.New(t)
	client := c.Client(once)
	createOrders(t, client, false)
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(t.Context(), client, "a"); err == nil {
		t.Error("a closed cluster answers")
	}
	if _, err := c.Join(); err == nil {
		t.Error("a node joined a closed cluster")
	}
	if err := c.Node(0).Heal(); err == nil {
		t.Error("a node of a closed cluster was healed")
	}
}

func TestCloseUnderTraffic(t *testing.T) {
	c := cluster.New(t)
	client := c.Client(once)
	createOrders(t, client, false)
	stopped := make(chan struct{})
	for _, n := range c.Nodes() {
		go func() {
			defer func() { stopped <- struct{}{} }()
			for put(t.Context(), client, "a", to(n)) == nil {
			}
		}()
	}
	for _, n := range c.Nodes() {
		for n.Count("PutItem") < 5 {
			if err := put(t.Context(), client, "b", to(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for range c.Nodes() {
		<-stopped
	}
}

func TestSingleAddress(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) { o.SingleAddress = true })
	equal(t, "address", c.Node(2).Address(), "127.0.0.3")
	client := c.Client(once)
	createOrders(t, client, false)
	for i, n := range c.Nodes() {
		if err := put(t.Context(), client, strconv.Itoa(i), to(n)); err != nil {
			t.Fatal(err)
		}
		equal(t, "PutItem", n.Count("PutItem"), 1)
	}
	c.Node(1).Refuse()
	wantRefused(t, put(t.Context(), c.Client(once), "a", to(c.Node(1))))
	heal(t, c.Node(1))
	if err := put(t.Context(), c.Client(once), "a", to(c.Node(1))); err != nil {
		t.Error(err)
	}
}

func TestIPv6(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) { o.IPv6 = true })
	equal(t, "URL", c.Node(0).URL(), "http://[::1]:"+strconv.Itoa(c.Port()))
	_, body := get(t, c, c.Node(0).URL()+"/localnodes")
	equal(t, "list", body, `["::1"]`)
	createOrders(t, c.Client(), false)
	if _, err := c.Join(); err == nil {
		t.Error("a second node joined")
	}
}

func TestTLS(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) {
		o.TLS = true
		o.TLSNames = []string{"alternator.test", "127.9.9.9"}
		o.VerifySignatures = true
	})
	equal(t, "URL", c.Node(1).URL(), "https://"+c.Node(1).HostPort())
	client := c.Client(once)
	createOrders(t, client, false)
	for _, n := range c.Nodes() {
		if err := put(t.Context(), client, "a", to(n)); err != nil {
			t.Error(err)
		}
	}
	r, _ := get(t, c, c.Node(2).URL())
	for _, name := range []string{"alternator.test", "127.9.9.9", "127.0.0.3"} {
		if err := r.TLS.PeerCertificates[0].VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	equal(t, "protocol", r.Proto, "HTTP/1.1")

	stranger := cluster.New(t)
	if err := put(t.Context(), stranger.Client(once), "a", to(c.Node(0))); err == nil {
		t.Error("a client that does not know the authority trusts the certificate")
	}
	if stranger.CertPool() != nil {
		t.Error("a cluster without TLS has an authority")
	}
}

func TestCertificatesOfNamesOnly(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) {
		o.TLS, o.TLSNames, o.TLSOnlyNames = true, []string{"alternator.test"}, true
	})
	stranger, ok := errors.AsType[x509.HostnameError](put(t.Context(), c.Client(once), "a"))
	if !ok {
		t.Fatal("a client trusts a node that is not at an address of its certificate")
	}
	equal(t, "names", fmt.Sprint(stranger.Certificate.DNSNames, stranger.Certificate.IPAddresses), "[alternator.test] []")
	equal(t, "address", stranger.Host, "127.0.0.1")
}

func TestClientOptions(t *testing.T) {
	c := cluster.New(t)
	o := c.ClientOptions()
	equal(t, "endpoint", aws.ToString(o.BaseEndpoint), c.Node(0).URL())
	equal(t, "region", o.Region, "us-east-1")
	equal(t, "checksums are ignored", o.DisableValidateResponseChecksum, true)
	client := dynamodb.New(o, to(c.Node(2)))
	createOrders(t, client, false)
	equal(t, "CreateTable on node 2", c.Node(2).Count("CreateTable"), 1)
}
