// Command alternator runs the embedded cluster until it is interrupted, for
// trying things out without a ScyllaDB. `make cluster` runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/keyroute/keyroute/integration/cluster"
)

func main() {
	nodes := flag.Int("nodes", 3, "how many nodes, on 127.0.0.1, 127.0.0.2, ...")
	port := flag.Int("port", 8000, "the port of all nodes")
	flag.Parse()
	if err := run(*nodes, *port); err != nil {
		fmt.Fprintln(os.Stderr, "alternator:", err)
		os.Exit(1)
	}
}

func run(nodes, port int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := cluster.Start(func(o *cluster.Options) { o.Nodes, o.Port = nodes, port })
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println("embedded Alternator nodes, in memory, until interrupted:", strings.Join(c.Seeds(), " "))
	<-ctx.Done()
	return nil
}
