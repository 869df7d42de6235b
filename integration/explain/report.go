package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

// A report is what the program tells, in the form of its JSON.
type report struct {
	Nodes      []string    `json:"nodes"`      // in canonical order
	Candidates []candidate `json:"candidates"` // the writes that vote
	Skipped    []skipped   `json:"skipped"`    // the others
	LookUp     []string    `json:"lookUp"`     // tables whose partition key the plugin would look up
	Votes      []vote      `json:"votes"`      // in the order of the plan
	Order      []string    `json:"order"`      // the plan; empty if there are no votes
}

// A place is where a write stands in the request.
type place struct {
	Table     string `json:"table"`
	Position  int    `json:"position"`
	Operation string `json:"operation"` // put or delete; "" if it is not one of both
}

type candidate struct {
	place
	Attribute string   `json:"attribute"`
	Key       keyValue `json:"key"`
	Hash      int64    `json:"hash,string"` // more than a number of JSON holds everywhere
	Preferred string   `json:"preferred"`
}

type skipped struct {
	place
	Reason string `json:"reason"`
}

type vote struct {
	Node  string `json:"node"`
	Count int    `json:"count"`
}

func newReport(k *knowledge, request map[string][]types.WriteRequest) *report {
	e := resolver.Explain(k.ring, request, k)
	// Lists are empty in JSON and not null.
	r := &report{
		Nodes: names(k.ring.Nodes()), Order: names(e.Order), LookUp: append([]string{}, k.unknown...),
		Candidates: []candidate{}, Skipped: []skipped{}, Votes: []vote{},
	}
	for _, w := range e.Writes {
		at := place{w.Table, w.Position, operationOf(request[w.Table][w.Position])}
		if w.Skipped != "" {
			r.Skipped = append(r.Skipped, skipped{at, w.Skipped})
			continue
		}
		r.Candidates = append(r.Candidates, candidate{at, w.Attribute, keyValue{w.Key}, w.Hash, w.Preferred.String()})
	}
	for _, v := range e.Votes {
		r.Votes = append(r.Votes, vote{v.Node.String(), v.Count})
	}
	return r
}

func names(nodes []*resolver.Node) []string {
	list := make([]string, len(nodes))
	for i, n := range nodes {
		list[i] = n.String()
	}
	return list
}

func operationOf(w types.WriteRequest) string {
	switch {
	case w.PutRequest != nil && w.DeleteRequest == nil:
		return "put"
	case w.DeleteRequest != nil && w.PutRequest == nil:
		return "delete"
	}
	return ""
}

// keyValue is a partition key in DynamoDB's own JSON.
type keyValue struct{ types.AttributeValue }

// MarshalJSON writes an object whose only field is named after the type.
func (k keyValue) MarshalJSON() ([]byte, error) {
	switch v := k.AttributeValue.(type) {
	case *types.AttributeValueMemberS:
		return marshal(map[string]string{"S": v.Value})
	case *types.AttributeValueMemberN:
		return marshal(map[string]string{"N": v.Value})
	case *types.AttributeValueMemberB:
		return marshal(map[string][]byte{"B": append([]byte{}, v.Value...)}) // empty, not null
	}
	return nil, fmt.Errorf("%T is no key", k.AttributeValue)
}

// marshal leaves the likes of < and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r *report) writeText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Nodes: %d\n", len(r.Nodes))
	for _, node := range r.Nodes {
		fmt.Fprintf(t, "  %s\n", node)
	}
	fmt.Fprintf(t, "\nCandidates: %d\n", len(r.Candidates))
	for _, c := range r.Candidates {
		key, err := c.Key.MarshalJSON()
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "  %v\t%s\t%s = %s\thash %d\tprefers %s\n", c.place, c.Operation, c.Attribute, key, c.Hash, c.Preferred)
	}
	fmt.Fprintf(t, "\nSkipped: %d\n", len(r.Skipped))
	for _, s := range r.Skipped {
		fmt.Fprintf(t, "  %v\t%s\t%s\n", s.place, cmp.Or(s.Operation, "-"), s.Reason)
	}
	for _, table := range r.LookUp {
		fmt.Fprintf(t, "  the partition key of %s would be looked up in the background\n", table)
	}
	fmt.Fprintf(t, "\nVotes: %d\n", len(r.Candidates))
	for _, v := range r.Votes {
		fmt.Fprintf(t, "  %d\t%s\n", v.Count, v.Node)
	}
	fmt.Fprintf(t, "\nOrder\n")
	for i, node := range r.Order {
		fmt.Fprintf(t, "  %d\t%s\n", i+1, node)
	}
	if len(r.Order) == 0 {
		fmt.Fprintf(t, "  none: without a vote the batch is spread over the nodes\n")
	}
	return t.Flush()
}

// String returns the place as errors name it, "orders[2]".
func (p place) String() string { return p.Table + "[" + strconv.Itoa(p.Position) + "]" }
