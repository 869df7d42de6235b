package integration

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// Answers of table operations pass through the client anyway, so that what they
// tell about partition keys costs no request.

func TestATableThatTheClientMadeIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite)))
	createTableWith(t, client, "orders", "customer,number", "SN")
	v := newVoter(t, c)
	for node := range 3 {
		wantVote(t, c, client, batch(writes{"orders": {
			put(item{"number": num("1"), "customer": v.key(node)}),
			del(item{"number": num("2"), "customer": v.key(node)}),
		}}), node)
	}
	wantCount(t, c, "DescribeTable", 0)
}

func TestATableThatTheClientAskedForIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite)))
	v := newVoter(t, c)

	createTable(t, c, "described", "pk", "S")
	if _, err := client.DescribeTable(deadline(t), &dynamodb.DescribeTableInput{TableName: aws.String("described")}); err != nil {
		t.Fatal(err)
	}
	wantVote(t, c, client, batch(writes{"described": v.puts(1)}), 1)
	wantCount(t, c, "DescribeTable", 1) // the one above

	createTable(t, c, "updated", "pk", "S")
	if _, err := client.UpdateTable(deadline(t), &dynamodb.UpdateTableInput{
		TableName: aws.String("updated"), BillingMode: types.BillingModePayPerRequest}); err != nil {
		t.Fatal(err)
	}
	wantVote(t, c, client, batch(writes{"updated": v.puts(2)}), 2)
	wantCount(t, c, "DescribeTable", 1)
}

// An operation that failed tells nothing, though it names a table and a key.
func TestATableThatCouldNotBeMadeIsLookedUp(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	createTable(t, c, "orders", "pk", "S")
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite)))
	_, err := client.CreateTable(deadline(t), &dynamodb.CreateTableInput{
		TableName:            aws.String("orders"),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if code := apiError(t, err).ErrorCode(); code != "ResourceInUseException" {
		t.Fatalf("CreateTable failed with %s", code)
	}
	v := newVoter(t, c)
	in := batch(writes{"orders": {put(item{"pk": v.key(1), "id": v.key(2)})}})
	wantNoVote(t, client, in)
	eventuallyVotes(t, client, in)
	wantVote(t, c, client, in, 1)
	wantCount(t, c, "DescribeTable", 1)
}

// The items have both attributes, so that only the table can tell which one is
// the key.
func TestATableThatTheClientDeletedIsLookedUpAgain(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite)))
	createTableWith(t, client, "users", "pk", "S")
	v := newVoter(t, c)
	in := batch(writes{"users": {put(item{"pk": v.key(1), "id": v.key(2)})}})
	wantVote(t, c, client, in, 1)

	if _, err := client.DeleteTable(deadline(t), &dynamodb.DeleteTableInput{TableName: aws.String("users")}); err != nil {
		t.Fatal(err)
	}
	createTable(t, c, "users", "id", "S")
	wantNoVote(t, client, in)
	eventuallyVotes(t, client, in)
	wantVote(t, c, client, in, 2)
	wantCount(t, c, "DescribeTable", 1)
}

func TestATableThatSomebodyElseMadeAnewIsRoutedByItsNewKey(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	createTable(t, c, "users", "pk", "S")
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite)))
	v := newVoter(t, c)
	old := batch(writes{"users": v.puts(1)})
	wantNoVote(t, client, old)
	eventuallyVotes(t, client, old)
	wantVote(t, c, client, old, 1)

	other := c.Client()
	if _, err := other.DeleteTable(deadline(t), &dynamodb.DeleteTableInput{TableName: aws.String("users")}); err != nil {
		t.Fatal(err)
	}
	createTable(t, c, "users", "id", "S")
	c.ResetCounts()
	key := v.key(2)
	in := batch(writes{"users": {put(item{"id": key}), del(item{"id": v.key(2)}), put(item{"id": v.key(0)})}})
	wantNoVote(t, client, in)
	eventuallyVotes(t, client, in)
	wantVote(t, c, client, in, 2)

	// Single writes are of the same mind.
	out, err := client.PutItem(deadline(t), &dynamodb.PutItemInput{TableName: aws.String("users"), Item: item{"id": key}})
	if err != nil {
		t.Fatal(err)
	}
	if d := decision(t, out.ResultMetadata); d.Reason != middleware.ReasonKeyed || d.Coordinator != c.Node(2).URL() {
		t.Errorf("a single write was sent to %s, %v", d.Coordinator, d.Reason)
	}
	wantCount(t, c, "DescribeTable", 1)
}

// A table has one entry, however it is called.
func TestATableThatIsGivenByItsARN(t *testing.T) {
	t.Parallel()
	const prefix = "arn:aws:dynamodb:us-east-1:000000000000:table/"
	c := cluster.New(t, nodes(3))
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite)))
	v := newVoter(t, c)
	createTableWith(t, client, "made", "pk", "S")
	wantVote(t, c, client, batch(writes{prefix + "made": v.puts(1)}), 1)
	wantCount(t, c, "DescribeTable", 0)

	createTable(t, c, "found", "pk", "S")
	in := batch(writes{prefix + "found": v.puts(2)})
	wantNoVote(t, client, in)
	eventuallyVotes(t, client, in)
	wantVote(t, c, client, batch(writes{"found": v.puts(0)}), 0)
	wantCount(t, c, "DescribeTable", 1)
}

// Tables of the system can be read only.
func TestTablesOfTheSystemAreNotLookedUp(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	client := attach(t, c, newPlugin(t, c, mode(middleware.AnyWrite)))
	in := batch(writes{".scylla.alternator.system.clients": {put(item{"pk": str("a")})}})
	for range 5 {
		if _, err := client.BatchWriteItem(deadline(t), in); err == nil {
			t.Fatal("a table of the system was written to")
		}
	}
	settle(t, c, client)
	wantCount(t, c, "DescribeTable", 1) // that of settle
}
