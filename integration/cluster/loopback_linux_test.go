package cluster_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/keyroute/keyroute/integration/cluster"
)

func TestFailedStartLeavesNothingBehind(t *testing.T) {
	blocked, err := net.Listen("tcp", "127.0.0.3:0")
	if err != nil {
		t.Fatal(err)
	}
	defer blocked.Close()
	port := blocked.Addr().(*net.TCPAddr).Port
	c, err := cluster.Start(func(o *cluster.Options) { o.Port = port })
	if err == nil {
		c.Close()
		t.Fatal("a cluster started on a port that is taken")
	}
	for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			t.Fatalf("the cluster that did not start holds its port: %v", err)
		}
		l.Close()
	}
}

func TestSingleAddressOccupiesNoOther(t *testing.T) {
	c := cluster.New(t, func(o *cluster.Options) { o.SingleAddress = true })
	for _, n := range c.Nodes()[1:] {
		l, err := net.Listen("tcp", n.HostPort())
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}
