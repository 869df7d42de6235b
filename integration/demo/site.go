package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// A site is the cluster that the demo runs on.
type site struct {
	cluster *cluster.Cluster // the embedded nodes; nil on a real cluster
	seeds   []string
	options dynamodb.Options // of the bare client
	prefix  string           // of the names of the tables
	created []*table         // by the demo, to be deleted by it
	found   []*table         // there before, and empty, as they are to be left
}

// embed starts embedded nodes.
func embed(nodes int) (*site, error) {
	c, err := cluster.Start(func(o *cluster.Options) { o.Nodes = nodes })
	if err != nil {
		return nil, fmt.Errorf("starting %d nodes: %w", nodes, err)
	}
	return &site{cluster: c, seeds: []string{c.Node(0).URL()}, options: c.ClientOptions()}, nil
}

// connect makes the site of a real cluster. It does no I/O.
func connect(seeds []string, prefix string, credentials aws.Credentials) *site {
	return &site{
		seeds:  seeds,
		prefix: prefix,
		options: dynamodb.Options{
			BaseEndpoint: aws.String(seeds[0]),
			Region:       "us-east-1", // Alternator does not look at it
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return credentials, nil
			}),
			// Alternator sends no checksum, which the SDK complains about.
			DisableValidateResponseChecksum: true,
		},
	}
}

func (s *site) close() error {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.Close()
}

// client returns a client that talks to the first seed, unless an option has
// it otherwise.
func (s *site) client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(s.options, optFns...)
}

// endpoint is the canonical endpoint that the bare client talks to.
func (s *site) endpoint() string {
	node, err := resolver.ParseNode(s.seeds[0])
	if err != nil {
		return s.seeds[0]
	}
	return node.String()
}

// attach returns a client with a plugin that knows the live nodes. The plugin
// is the caller's to close.
func (s *site) attach(ctx context.Context, mode middleware.Mode) (*dynamodb.Client, *middleware.Plugin, error) {
	plugin, err := middleware.New(func(o *middleware.Options) {
		o.Mode = mode
		o.Seeds = s.seeds
	})
	if err != nil {
		return nil, nil, err
	}
	client := s.client(plugin.Attach)
	if err := plugin.Refresh(ctx); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("asking for the nodes of the cluster: %w", err), closePlugin(plugin))
	}
	return client, plugin, nil
}

// closePlugin closes a plugin, even of a run that was interrupted.
func closePlugin(p *middleware.Plugin) error { return p.Close(context.Background()) }

// nodes asks the cluster for its live nodes, for those who have no plugin.
func (s *site) nodes(ctx context.Context) (*resolver.Ring, error) {
	_, plugin, err := s.attach(ctx, middleware.None)
	if err != nil {
		return nil, err
	}
	ring, err := ringOf(plugin)
	return ring, errors.Join(err, closePlugin(plugin))
}

// ringOf returns the live nodes that a plugin knows.
func ringOf(p *middleware.Plugin) (*resolver.Ring, error) {
	var nodes []*resolver.Node
	for _, status := range p.Nodes() {
		node, err := resolver.ParseNode(status.Endpoint)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return resolver.NewRing(nodes...), nil
}

// tableName is what a table is called on the site.
func (s *site) tableName(t *table) string { return s.prefix + t.name }

// tableNamed is the table that is called so on the site, or nil.
func (s *site) tableNamed(name string) *table {
	return tableOf(strings.TrimPrefix(name, s.prefix))
}
