package integration

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/internal/vectors"
	"github.com/keyroute/keyroute/middleware"
)

// The order is that of the hosts which the attempts of one call are sent to,
// every node but the last answering 500.
func TestCriterion13VotesAndOrderOfTheVectors(t *testing.T) {
	for _, b := range vectors.Batches(t) {
		t.Run(b.Name, func(t *testing.T) {
			c := newVectorCluster(t, &b)
			out, err := c.client(t, &b).BatchWriteItem(deadline(t), &dynamodb.BatchWriteItemInput{RequestItems: b.RequestItems})
			if err != nil {
				t.Fatal(err)
			}
			d := decision(t, out.ResultMetadata)
			sent := c.batches.take()

			if b.Fallback {
				checkOrdinary(t, &b, d, sent)
			} else {
				checkVoted(t, &b, d, sent)
			}
			if !slices.Equal(d.Tried, sent) {
				t.Errorf("the decision tells of the nodes %v, but they were %v", d.Tried, sent)
			}
			c.checkLookups(t, b.Discover)
		})
	}
}

func checkVoted(t *testing.T, b *vectors.Batch, d middleware.Decision, sent []string) {
	t.Helper()
	if d.Reason != middleware.ReasonVoted {
		t.Errorf("reason %v, want %v", d.Reason, middleware.ReasonVoted)
	}
	if !slices.Equal(sent, b.Order) {
		t.Errorf("the nodes were asked in the order\n%v, want\n%v", sent, b.Order)
	}
	var votes []vectors.Vote
	for _, v := range d.Votes {
		votes = append(votes, vectors.Vote{Node: v.Node.String(), Count: v.Count})
	}
	if !slices.Equal(votes, b.Votes) {
		t.Errorf("votes %v, want %v", votes, b.Votes)
	}
}

func checkOrdinary(t *testing.T, b *vectors.Batch, d middleware.Decision, sent []string) {
	t.Helper()
	if d.Reason != middleware.ReasonNoVotes || d.Votes != nil {
		t.Errorf("reason %v with the votes %v, want %v", d.Reason, d.Votes, middleware.ReasonNoVotes)
	}
	if !slices.Equal(slices.Sorted(slices.Values(sent)), b.Nodes) {
		t.Errorf("the nodes %v were asked, want each of %v once", sent, b.Nodes)
	}
}

// A vectorCluster stands for the nodes of a vector, whose addresses nobody can
// dial.
type vectorCluster struct {
	localNodes string
	batches    list[string] // the endpoints that batches were sent to
	described  list[string] // the tables that were looked up
	fail       int          // how many batches are answered 500
}

func newVectorCluster(t *testing.T, b *vectors.Batch) *vectorCluster {
	var addresses []string
	for _, node := range b.Nodes {
		u, err := url.Parse(node)
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, u.Hostname())
	}
	body, err := json.Marshal(addresses)
	if err != nil {
		t.Fatal(err)
	}
	return &vectorCluster{localNodes: string(body), fail: len(b.Nodes) - 1}
}

// client returns a client that knows all nodes and the keys of the vector. It
// makes as many attempts as there are nodes.
func (c *vectorCluster) client(t *testing.T, b *vectors.Batch) *dynamodb.Client {
	p, err := middleware.New(mode(middleware.AnyWrite), func(o *middleware.Options) {
		o.Seeds = b.Nodes[:1]
		o.PartitionKeys = b.PartitionKeys
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closePlugin(t, p) })
	client := dynamodb.New(clientOptions(c.do), impatient(len(b.Nodes)), p.Attach)
	if err := p.Refresh(deadline(t)); err != nil {
		t.Fatal(err)
	}
	return client
}

func (c *vectorCluster) do(r *http.Request) (*http.Response, error) {
	switch operationOf(r) {
	case "":
		return reply(r, http.StatusOK, c.localNodes), nil
	case "DescribeTable":
		var in struct{ TableName string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return nil, err
		}
		c.described.add(in.TableName)
		return reply(r, http.StatusBadRequest,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"not found"}`), nil
	}
	_, _ = io.Copy(io.Discard, r.Body)
	c.batches.add(r.URL.Scheme + "://" + r.URL.Host)
	if c.batches.len() <= c.fail {
		return reply(r, http.StatusInternalServerError, internalOops), nil
	}
	return reply(r, http.StatusOK, written), nil
}

// checkLookups waits for the lookups of the given tables and checks that there
// is no other.
func (c *vectorCluster) checkLookups(t *testing.T, tables []string) {
	t.Helper()
	eventually(t, "each unknown table is looked up", func() bool { return c.described.len() >= len(tables) })
	got := c.described.take()
	slices.Sort(got)
	if !slices.Equal(got, tables) {
		t.Errorf("the tables %v were looked up, want %v", got, tables)
	}
}
