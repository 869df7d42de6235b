package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// createTables makes the tables that are not there. One that is there must be
// empty: what is in it is not the demo's to delete.
func (s *site) createTables(ctx context.Context) error {
	client := s.client()
	for _, t := range tables {
		name := s.tableName(t)
		_, err := client.CreateTable(ctx, t.definition(name))
		if _, isThere := errors.AsType[*types.ResourceInUseException](err); isThere {
			if err := s.checkTable(ctx, client, t); err != nil {
				return err
			}
			s.found = append(s.found, t)
			continue
		}
		if err != nil {
			return fmt.Errorf("creating the table %s: %w", name, err)
		}
		s.created = append(s.created, t)
	}
	return nil
}

// checkTable returns an error if a table that is there cannot be used.
func (s *site) checkTable(ctx context.Context, client *dynamodb.Client, t *table) error {
	name := s.tableName(t)
	d, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(name)})
	if err != nil {
		return fmt.Errorf("describing the table %s: %w", name, err)
	}
	if !t.matches(d.Table) {
		return fmt.Errorf("the table %s is there already, with other keys: choose another -prefix", name)
	}
	items, err := s.scan(ctx, client, t, 1)
	if err != nil {
		return err
	}
	if len(items) > 0 {
		return fmt.Errorf("the table %s is there already and not empty: delete it or choose another -prefix", name)
	}
	return nil
}

// cleanUpTime is how long it may take to clean up after a run that was
// interrupted.
const cleanUpTime = 15 * time.Second

// cleanUp leaves the cluster as it was before createTables, even if the run was
// interrupted.
func (s *site) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	errs := []error{s.empty(ctx, s.found)}
	for _, t := range s.created {
		in := &dynamodb.DeleteTableInput{TableName: aws.String(s.tableName(t))}
		if _, err := s.client().DeleteTable(ctx, in); err != nil {
			errs = append(errs, fmt.Errorf("the table %s is left over: %w", *in.TableName, err))
		}
	}
	s.found, s.created = nil, nil
	return errors.Join(errs...)
}

// scan reads a table to its end, or until it has as many items as limit says,
// if that is not 0.
func (s *site) scan(ctx context.Context, client *dynamodb.Client, t *table, limit int) ([]attributes, error) {
	in := &dynamodb.ScanInput{TableName: aws.String(s.tableName(t)), ConsistentRead: aws.Bool(true)}
	var items []attributes
	pages := dynamodb.NewScanPaginator(client, in)
	for pages.HasMorePages() && (limit == 0 || len(items) < limit) {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading the table %s: %w", *in.TableName, err)
		}
		items = append(items, page.Items...)
	}
	return items, nil
}

// empty deletes everything from tables.
func (s *site) empty(ctx context.Context, of []*table) error {
	client := s.client()
	for _, t := range of {
		items, err := s.scan(ctx, client, t, 0)
		if err != nil {
			return err
		}
		for len(items) > 0 {
			n := min(len(items), maxBatch)
			if err := s.deleteItems(ctx, client, t, items[:n]); err != nil {
				return err
			}
			items = items[n:]
		}
	}
	return nil
}

func (s *site) deleteItems(ctx context.Context, client *dynamodb.Client, t *table, items []attributes) error {
	requests := make([]types.WriteRequest, len(items))
	for i, item := range items {
		id := attributes{}
		for _, k := range t.keys {
			id[k.name] = item[k.name]
		}
		requests[i].DeleteRequest = &types.DeleteRequest{Key: id}
	}
	name := s.tableName(t)
	left := map[string][]types.WriteRequest{name: requests}
	for try := 0; len(left) > 0; try++ {
		if err := pause(ctx, try); err != nil {
			return fmt.Errorf("emptying the table %s: %w", name, err)
		}
		out, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: left})
		if err != nil {
			return fmt.Errorf("emptying the table %s: %w", name, err)
		}
		left = out.UnprocessedItems
	}
	return nil
}
