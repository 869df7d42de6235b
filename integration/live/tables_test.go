package live

import (
	"context"
	"crypto/rand"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func num(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
func bin(b string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(b)} }

func put(i item) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: i}}
}

func del(key item) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}}
}

// table makes a table with the partition key pk, through a client without the
// plugin, and drops it with the test. The type is that of its key.
func (s *site) table(keyType types.ScalarAttributeType) string {
	s.t.Helper()
	return s.tableThrough(s.bare(), keyType)
}

func (s *site) tableThrough(client *dynamodb.Client, keyType types.ScalarAttributeType) string {
	s.t.Helper()
	name := aws.String("keyroute_test_" + rand.Text())
	_, err := client.CreateTable(s.ctx, &dynamodb.CreateTableInput{
		TableName:            name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: keyType}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		Tags:                 []types.Tag{{Key: aws.String("system:write_isolation"), Value: aws.String("always")}},
	})
	s.must(err)
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := s.bare().DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: name}); err != nil {
			s.t.Errorf("the table %s is left: %v", *name, err)
		}
	})
	return *name
}

// read returns an item as it was written last; nil if there is none.
func (r *routed) read(table string, key types.AttributeValue) item {
	r.t.Helper()
	out, err := r.GetItem(r.ctx, &dynamodb.GetItemInput{
		TableName: &table, Key: item{"pk": key}, ConsistentRead: aws.Bool(true),
	})
	r.must(err)
	return out.Item
}
