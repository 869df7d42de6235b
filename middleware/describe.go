package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyroute/keyroute/discovery"
)

// describeWith returns what looks up the partition key of a table with
// DescribeTable, through a client with the options of an attached one: the same
// credentials, HTTP client, logging and, since the plugin is among the options,
// the same routing.
func describeWith(o *dynamodb.Options) discovery.Describe {
	client := sync.OnceValue(func() *dynamodb.Client {
		options := o.Copy()
		return dynamodb.New(options, func(c *dynamodb.Options) {
			// New makes a copy of the SDK's own HTTP client, with connections of
			// its own. The attached client's are to be shared.
			c.HTTPClient = options.HTTPClient
		})
	})
	return func(ctx context.Context, table string) (string, error) {
		out, err := client().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
		if err != nil {
			return "", classify(err)
		}
		return partitionKeyOf(out.Table), nil
	}
}

// lasting are the error codes of a DescribeTable, besides that of a table that
// does not exist, that asking again soon will not mend. Sources: Alternator's
// executor.cc, and DynamoDB's common errors.
var lasting = map[string]bool{
	"AccessDeniedException":     true,
	"ValidationException":       true,
	"UnknownOperationException": true,
}

func classify(err error) error {
	var api smithy.APIError
	switch {
	case !errors.As(err, &api):
		return err
	case api.ErrorCode() == "ResourceNotFoundException":
		return fmt.Errorf("%w: %w", discovery.ErrNoTable, err)
	case lasting[api.ErrorCode()]:
		return fmt.Errorf("%w: %w", discovery.ErrLasting, err)
	}
	return err
}

// partitionKeyOf returns the name of the partition-key attribute, or "".
func partitionKeyOf(table *types.TableDescription) string {
	if table == nil {
		return ""
	}
	for _, element := range table.KeySchema {
		if element.KeyType == types.KeyTypeHash {
			return aws.ToString(element.AttributeName)
		}
	}
	return ""
}
