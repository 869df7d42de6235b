package cluster_test

import (
	"context"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
)

func Example() {
	c, err := cluster.Start(func(o *cluster.Options) { o.Nodes = 3 })
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	client := c.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })

	c.Record(true)
	c.Node(0).Inject(cluster.Answer(400, "AccessDeniedException", "not you").Times(1))
	for range 2 {
		_, err := client.ListTables(context.Background(), &dynamodb.ListTablesInput{})
		fmt.Println("refused:", err != nil)
	}
	for _, r := range c.Requests() {
		fmt.Println(r.Node, r.Operation, r.Status)
	}
	// Output:
	// refused: true
	// refused: false
	// 0 ListTables 400
	// 0 ListTables 200
}
