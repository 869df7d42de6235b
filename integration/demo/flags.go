package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/resolver"
)

const usage = `The demo sends the same writes to a ScyllaDB Alternator cluster several times,
in batches, and shows which nodes coordinate them and whether anything is lost:

  bare       the AWS SDK alone, all batches on one endpoint
  none       with the plugin, which spreads the batches over the nodes
  any_write  with the plugin, which sends each batch to the node that most of
             its writes prefer; half way one node stops, and later it is back

The writes are lines of DynamoDB's own JSON for the two tables of the demo,
"orders" (key: customer, a string) and "events" (keys: shop, a number, and at, a
string), such as

  {"table":"orders","PutRequest":{"Item":{"customer":{"S":"c7"},"n":{"N":"1"}}}}
  {"table":"events","DeleteRequest":{"Key":{"shop":{"N":"3"},"at":{"S":"t9"}}}}

Lines that are no such write are reported and skipped.

  -input FILE     read the writes from a file, or from standard input if it is
                  "-"; default: some 5,400 writes that are part of the demo
  -batch N        writes per batch, 1 to 100; default 25
  -mode LIST      what to run; default bare,none,any_write (and there is rmw)
  -nodes N        embedded nodes, 1 to 254; default 5
  -seeds URLS     use this cluster instead of embedded nodes: no node is stopped
                  there, and requests are counted by the client
  -prefix PREFIX  of the names of the tables there, which are created and in the
                  end deleted, or used if they are there and empty; default
                  keyroute_demo_
  -key-id ID      credentials, if that cluster checks them; by default those of
  -secret SECRET  AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or made up
  -ascii          draw with #, as if NO_COLOR is set or TERM is dumb

Exit status: 0 if all is well, 1 if a call failed or a write was lost, 2 for
wrong flags. Examples:

  go run ./demo -nodes 9 -batch 5
  go run ./demo -input - -mode any_write <writes.jsonl
  go run ./demo -seeds http://10.0.0.1:8000,http://10.0.0.2:8000
`

// maxBatch is how many writes a batch may hold (source: Scylla's
// alternator_max_items_in_batch_write; DynamoDB itself takes 25).
const maxBatch = 100

// flags are the command line. Once parsed they are valid.
type flags struct {
	input       string // "" is the bundled file, "-" standard input
	batch       int
	scenarios   []scenario
	nodes       int
	seeds       []string // none: embedded nodes
	prefix      string
	credentials aws.Credentials
	ascii       bool
}

func parseFlags(args []string) (*flags, error) {
	f := &flags{}
	set := flag.NewFlagSet("demo", flag.ContinueOnError)
	set.SetOutput(io.Discard) // run reports errors and prints the usage
	f.define(set)
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	return f, f.validate(set)
}

// define says what flags there are. What they mean is in the usage.
func (f *flags) define(set *flag.FlagSet) {
	f.scenarios = defaultScenarios()
	set.StringVar(&f.input, "input", "", "")
	set.IntVar(&f.batch, "batch", 25, "")
	set.Func("mode", "", func(names string) (err error) {
		f.scenarios, err = scenariosOf(list(names))
		return err
	})
	set.IntVar(&f.nodes, "nodes", 5, "")
	set.Func("seeds", "", func(seeds string) error {
		f.seeds = list(seeds)
		return nil
	})
	set.StringVar(&f.prefix, "prefix", "keyroute_demo_", "")
	set.StringVar(&f.credentials.AccessKeyID, "key-id", cmp.Or(os.Getenv("AWS_ACCESS_KEY_ID"), "demo"), "")
	set.StringVar(&f.credentials.SecretAccessKey, "secret", cmp.Or(os.Getenv("AWS_SECRET_ACCESS_KEY"), "demo"), "")
	set.BoolVar(&f.ascii, "ascii", os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb", "")
}

func (f *flags) validate(set *flag.FlagSet) error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if set.NArg() > 0 {
		refuse("unknown argument %q", set.Arg(0))
	}
	if f.batch < 1 || f.batch > maxBatch {
		refuse("-batch %d: must be 1 to %d", f.batch, maxBatch)
	}
	if f.nodes < 1 || f.nodes > cluster.MaxNodes {
		refuse("-nodes %d: must be 1 to %d", f.nodes, cluster.MaxNodes)
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, seed := range f.seeds {
		if _, err := resolver.ParseNode(seed); err != nil {
			refuse("-seeds: %w", err)
		}
	}
	if len(f.seeds) > 0 {
		if given["nodes"] {
			refuse("-nodes: does not go with -seeds")
		}
		return errors.Join(errs...)
	}
	if given["seeds"] {
		refuse("-seeds: must name at least one")
	}
	for _, name := range []string{"prefix", "key-id", "secret"} {
		if given[name] {
			refuse("-%s: only goes with -seeds", name)
		}
	}
	return errors.Join(errs...)
}

// list splits what is separated by commas.
func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// openSite starts the embedded nodes, or makes a client of the real cluster.
func (f *flags) openSite() (*site, error) {
	if len(f.seeds) > 0 {
		return connect(f.seeds, f.prefix, f.credentials), nil
	}
	return embed(f.nodes)
}
