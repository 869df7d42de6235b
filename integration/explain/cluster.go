package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// patience is how long the cluster may take to answer, all in all.
const patience = 30 * time.Second

// knowledge is what the routing of a request depends on.
type knowledge struct {
	ring *resolver.Ring
	keys map[string]string // by table name

	unknown []string // the tables that were asked for in vain
}

// PartitionKey implements resolver.PartitionKeys.
func (k *knowledge) PartitionKey(table string) (string, bool) {
	key, ok := k.keys[resolver.TableName(table)]
	if !ok {
		k.unknown = append(k.unknown, table)
	}
	return key, ok
}

// KeyMissing implements resolver.PartitionKeys.
func (k *knowledge) KeyMissing(_, _ string) {}

// ask asks a cluster for its live nodes, and about the tables of a request whose
// keys are not given. That a table cannot be described is only reported: its
// writes have no vote then.
func ask(ctx context.Context, f *flags, request map[string][]types.WriteRequest, stderr io.Writer) (k *knowledge, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	plugin, err := middleware.New(func(o *middleware.Options) { o.Seeds, o.Scope = f.seeds, f.scope })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plugin.Close(context.WithoutCancel(ctx))) }()
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", // Alternator does not look at it
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return f.credentials, nil
		}),
		// Alternator sends no checksum, which the SDK complains about.
		DisableValidateResponseChecksum: true,
	}, plugin.Attach)
	if err := plugin.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("asking for the live nodes: %w", err)
	}
	k = &knowledge{keys: maps.Clone(f.keys)}
	var endpoints []string
	for _, node := range plugin.Nodes() {
		endpoints = append(endpoints, node.Endpoint)
	}
	if k.ring, err = ringOf(endpoints); err != nil {
		return nil, err
	}
	for _, table := range slices.Sorted(maps.Keys(request)) {
		name := resolver.TableName(table)
		if _, known := k.keys[name]; known {
			continue
		}
		key, err := partitionKeyOf(ctx, client, name)
		if err != nil {
			fmt.Fprintf(stderr, "explain: table %s: %v\n", name, err)
			continue
		}
		k.keys[name] = key
	}
	return k, nil
}

func partitionKeyOf(ctx context.Context, client *dynamodb.Client, table string) (string, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return "", err
	}
	if out.Table != nil {
		for _, element := range out.Table.KeySchema {
			if element.KeyType == types.KeyTypeHash {
				return aws.ToString(element.AttributeName), nil
			}
		}
	}
	return "", errors.New("DescribeTable tells no partition key")
}
