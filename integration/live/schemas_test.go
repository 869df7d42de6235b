package live

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/middleware"
)

// known is an option for a plugin that is told the keys of tables.
func known(tables ...string) func(*middleware.Options) {
	return func(o *middleware.Options) {
		o.PartitionKeys = map[string]string{}
		for _, table := range tables {
			o.PartitionKeys[table] = "pk"
		}
	}
}

func TestATableIsLearntWhenItIsWrittenTo(t *testing.T) {
	s := newSite(t)
	table := s.table(types.ScalarAttributeTypeS)
	r := s.route(middleware.AnyWrite)
	write := put(item{"pk": r.keys(r.nodes[0], 1)[0]})
	if d := r.batch(table, write); d.Reason != middleware.ReasonNoVotes {
		t.Errorf("a batch to an unknown table is %v, want %v", d.Reason, middleware.ReasonNoVotes)
	}
	r.eventually("the table is learnt", func() bool { return r.batch(table, write).Reason == middleware.ReasonVoted })
	r.wantVoted(r.batch(table, write), r.votes(write))
	if c := r.plugin.Stats().Schemas; c.Lookups != 1 || c.Failures != 0 {
		t.Errorf("the table was looked up %d times, %d of them in vain, want once", c.Lookups, c.Failures)
	}
}

func TestATableThatIsMadeThroughThePluginNeedNotBeLearnt(t *testing.T) {
	s := newSite(t)
	r := s.route(middleware.AnyWrite)
	table := s.tableThrough(r.Client, types.ScalarAttributeTypeS)
	write := put(item{"pk": r.keys(r.nodes[0], 1)[0]})
	r.wantVoted(r.batch(table, write), r.votes(write))
	if n := r.plugin.Stats().Schemas.Lookups; n != 0 {
		t.Errorf("%d tables were looked up, want none", n)
	}
}

// That a table does not exist is for the server to say.
func TestATableThatDoesNotExist(t *testing.T) {
	s := newSite(t)
	const table = "keyroute_test_that_nobody_makes"
	r := s.route(middleware.AnyWrite, known(table))
	key := r.keys(r.nodes[0], 1)[0]
	_, err := r.PutItem(r.ctx, &dynamodb.PutItemInput{TableName: new(table), Item: item{"pk": key}})
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		t.Fatalf("a write failed with %v, want ResourceNotFoundException", err)
	}
	r.wantCoordinator(err, r.nodes[0])
}
