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

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/resolver"
)

const usage = `explain tells how the plugin routes a BatchWriteItem in mode any_write, and why.
It takes the request as the AWS command line does and sends no write.

  -request-items R  the writes of each table: the JSON itself, file://PATH, or -
                    for standard input
  -nodes URLS       the nodes to choose from
  -seeds URLS       instead: a cluster, whose live nodes are asked for
  -scope SCOPE      of which nodes, with -seeds: cluster (default),
                    datacenter:DC or rack:DC/RACK, each with a fallback behind
                    a comma
  -keys LIST        partition keys, such as orders=pk,users=id. With -seeds, the
                    cluster is asked about the other tables
  -key-id ID        credentials for that cluster, if it checks them (default:
  -secret SECRET    from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or made up)
  -json             write JSON

Exit status: 0 if the request was explained, 1 if it is malformed or the cluster
cannot be asked, 2 for wrong flags. Examples:

  go run ./explain -nodes http://10.0.0.1:8000,http://10.0.0.2:8000 -keys orders=pk \
    -request-items '{"orders": [{"PutRequest": {"Item": {"pk": {"S": "a"}}}}]}'
  go run ./explain -seeds http://10.0.0.1:8000 -request-items file:///tmp/batch.json
`

// flags are the command line. Once parsed they are valid.
type flags struct {
	request     string
	ring        *resolver.Ring // of the given nodes
	seeds       []string
	scope       discovery.Scope
	keys        map[string]string // by table
	credentials aws.Credentials
	json        bool
}

func parseFlags(args []string) (*flags, error) {
	f := &flags{}
	set := flag.NewFlagSet("explain", flag.ContinueOnError)
	set.SetOutput(io.Discard) // run reports errors and prints the usage
	set.StringVar(&f.request, "request-items", "", "")
	nodes := set.String("nodes", "", "")
	seeds := set.String("seeds", "", "")
	set.TextVar(&f.scope, "scope", discovery.Cluster(), "")
	keys := set.String("keys", "", "")
	set.StringVar(&f.credentials.AccessKeyID, "key-id", cmp.Or(os.Getenv("AWS_ACCESS_KEY_ID"), "explain"), "")
	set.StringVar(&f.credentials.SecretAccessKey, "secret", cmp.Or(os.Getenv("AWS_SECRET_ACCESS_KEY"), "explain"), "")
	set.BoolVar(&f.json, "json", false, "")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	var err error
	f.seeds = list(*seeds)
	if f.ring, err = ringOf(list(*nodes)); err != nil {
		return nil, err
	}
	if f.keys, err = keysOf(list(*keys)); err != nil {
		return nil, err
	}
	return f, f.validate(set)
}

func (f *flags) validate(set *flag.FlagSet) error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if set.NArg() > 0 {
		refuse("unknown argument %q", set.Arg(0))
	}
	if f.request == "" {
		refuse("-request-items: must be given")
	}
	given := map[string]bool{}
	set.Visit(func(g *flag.Flag) { given[g.Name] = true })
	if given["nodes"] == given["seeds"] {
		refuse("one of -nodes and -seeds must be given")
	}
	for name, values := range map[string]int{"nodes": f.ring.Len(), "seeds": len(f.seeds)} {
		if given[name] && values == 0 {
			refuse("-%s: must name at least one", name)
		}
	}
	for _, name := range []string{"scope", "key-id", "secret"} {
		if given[name] && !given["seeds"] {
			refuse("-%s: only goes with -seeds", name)
		}
	}
	return errors.Join(errs...)
}

// list splits what is separated by commas.
func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func ringOf(endpoints []string) (*resolver.Ring, error) {
	var nodes []*resolver.Node
	for _, endpoint := range endpoints {
		node, err := resolver.ParseNode(endpoint)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return resolver.NewRing(nodes...), nil
}

// keysOf reads partition keys, "table=attribute" each.
func keysOf(pairs []string) (map[string]string, error) {
	keys := map[string]string{}
	for _, pair := range pairs {
		table, attribute, _ := strings.Cut(pair, "=")
		if table == "" || attribute == "" {
			return nil, fmt.Errorf("-keys: %q must be TABLE=ATTRIBUTE", pair)
		}
		name := resolver.TableName(table)
		if _, ok := keys[name]; ok {
			return nil, fmt.Errorf("-keys: the table %q is there twice", name)
		}
		keys[name] = attribute
	}
	return keys, nil
}
