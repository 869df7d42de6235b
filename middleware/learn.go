package middleware

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/discovery"
)

// learn takes note of what the outputs of table operations tell about
// partition keys. They pass through the client anyway, so this knowledge is
// free.
func learn(schemas *discovery.Schemas, result any) {
	switch out := result.(type) {
	case *dynamodb.CreateTableOutput:
		learnTable(schemas, out.TableDescription)
	case *dynamodb.DescribeTableOutput:
		learnTable(schemas, out.Table)
	case *dynamodb.UpdateTableOutput:
		learnTable(schemas, out.TableDescription)
	case *dynamodb.DeleteTableOutput:
		if out.TableDescription != nil {
			schemas.Forget(aws.ToString(out.TableDescription.TableName))
		}
	}
}

func learnTable(schemas *discovery.Schemas, table *types.TableDescription) {
	if table == nil || table.TableStatus == types.TableStatusDeleting {
		return
	}
	schemas.Learn(aws.ToString(table.TableName), partitionKeyOf(table))
}
