// A first batch through keyroute, and how it was routed.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/keyroute/keyroute/middleware"
)

func main() {
	ctx := context.Background()

	plugin, err := middleware.New(func(o *middleware.Options) {
		o.Mode = middleware.AnyWrite
		o.Seeds = []string{"http://127.0.0.1:8000"}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer plugin.Close(ctx)

	cfg, err := config.LoadDefaultConfig(ctx,
		config.WithRegion("us-east-1"), // signed, but of no meaning to Alternator
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("user", "secret", "")))
	if err != nil {
		log.Fatal(err)
	}
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.DisableValidateResponseChecksum = true // Alternator sends no checksums
	}, plugin.Attach)

	if err := plugin.Refresh(ctx); err != nil { // not needed, but the first request then finds the whole cluster
		log.Print(err)
	}

	_, err = client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            aws.String("quickstart"),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("quickstart")})

	out, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"quickstart": {
			{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "a"}}}},
			{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "b"}}}},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	decision, _ := middleware.DecisionOf(out.ResultMetadata)
	fmt.Println(decision.Reason, decision.Coordinator, decision.Votes)
}
