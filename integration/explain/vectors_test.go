package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keyroute/keyroute/internal/vectors"
)

// The requests of the vectors are given to the program as they are written.
func TestEveryBatchOfTheVectorsIsExplained(t *testing.T) {
	folder := cmp.Or(os.Getenv("KEYROUTE_VECTORS"), filepath.Join("..", "..", "internal", "vectors", "testdata"))
	content, err := os.ReadFile(filepath.Join(folder, "batch.json"))
	if err != nil {
		t.Fatal(err)
	}
	var raw []struct{ RequestItems json.RawMessage }
	if err := json.Unmarshal(content, &raw); err != nil {
		t.Fatal(err)
	}
	batches := vectors.Batches(t)
	if len(raw) != len(batches) {
		t.Fatalf("%d requests for %d vectors", len(raw), len(batches))
	}
	for i, b := range batches {
		t.Run(b.Name, func(t *testing.T) {
			var keys []string
			for table, key := range b.PartitionKeys {
				keys = append(keys, table+"="+key)
			}
			shuffled := slices.Clone(b.Nodes)
			slices.Reverse(shuffled)
			got := decoded(t, string(raw[i].RequestItems), "-request-items", "-",
				"-nodes", strings.Join(shuffled, ","), "-keys", strings.Join(keys, ","))

			if !slices.Equal(got.Nodes, b.Nodes) {
				t.Errorf("nodes %v, want %v", got.Nodes, b.Nodes)
			}
			if !slices.Equal(got.Order, b.Order) {
				t.Errorf("order %v, want %v", got.Order, b.Order)
			}
			if !slices.Equal(got.LookUp, b.Discover) {
				t.Errorf("to look up: %v, want %v", got.LookUp, b.Discover)
			}
			votes, writes, candidates := 0, 0, map[string]int{}
			if len(got.Votes) != len(b.Votes) {
				t.Fatalf("votes %v, want %v", got.Votes, b.Votes)
			}
			for _, c := range got.Candidates {
				candidates[c.Preferred]++
			}
			for i, want := range b.Votes {
				if got.Votes[i] != (vote{want.Node, want.Count}) || candidates[want.Node] != want.Count {
					t.Errorf("votes %v from candidates for %v, want %v", got.Votes[i], candidates[want.Node], want)
				}
				votes += want.Count
			}
			for _, requests := range b.RequestItems {
				writes += len(requests)
			}
			if len(got.Candidates) != votes || len(got.Candidates)+len(got.Skipped) != writes {
				t.Errorf("%d candidates and %d skipped, want %d of %d writes", len(got.Candidates), len(got.Skipped), votes, writes)
			}
		})
	}
}

// decodedReport is a report as other programs read it.
type decodedReport struct {
	report
	Candidates []struct{ Preferred string } `json:"candidates"`
}

// decoded runs the program, which must explain the request, and reads its JSON.
func decoded(t *testing.T, stdin string, args ...string) decodedReport {
	t.Helper()
	status, stdout, stderr := runExplain(t, stdin, append(args, "-json")...)
	if status != explained || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var r decodedReport
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v in\n%s", err, stdout)
	}
	return r
}
