package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runExplain runs the program.
func runExplain(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), args, strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

const request = `{
  "orders": [
    {"PutRequest": {"Item": {"pk": {"S": "user-001"}, "total": {"N": "9.5"}}}},
    {},
    {"DeleteRequest": {"Key": {"pk": {"N": "1.0"}}}},
    {"PutRequest": {"Item": {"total": {"N": "1"}}}},
    {"PutRequest": {"Item": {"pk": {"BOOL": true}}}},
    {"PutRequest": {"Item": {"pk": {"S": "user-001"}}}}
  ],
  "logs": [{"PutRequest": {"Item": {"pk": {"B": "/wCA"}}}}],
  "users": [{"DeleteRequest": {"Key": {"id": {"B": "/wCA"}}}}]
}`

const threeNodes = "http://10.0.0.1:8000,HTTP://10.0.0.10:8000,http://10.0.0.2:8000/"

// The hash of the binary is one of the shared vectors.
const requestAsText = `Nodes: 3
  http://10.0.0.10:8000
  http://10.0.0.1:8000
  http://10.0.0.2:8000

Candidates: 4
  orders[0]  put     pk = {"S":"user-001"}  hash 6855922643016681057  prefers http://10.0.0.10:8000
  orders[2]  delete  pk = {"N":"1.0"}       hash 2504231737708099040  prefers http://10.0.0.10:8000
  orders[5]  put     pk = {"S":"user-001"}  hash 6855922643016681057  prefers http://10.0.0.10:8000
  users[0]   delete  id = {"B":"/wCA"}      hash 14533934253577680    prefers http://10.0.0.2:8000

Skipped: 4
  logs[0]    put  the partition key of the table is not known
  orders[1]  -    neither PutRequest nor DeleteRequest is set
  orders[3]  put  the write lacks the partition key
  orders[4]  put  the partition key is not a string, a number or a binary
  the partition key of logs would be looked up in the background

Votes: 4
  3  http://10.0.0.10:8000
  1  http://10.0.0.2:8000

Order
  1  http://10.0.0.10:8000
  2  http://10.0.0.2:8000
  3  http://10.0.0.1:8000
`

func TestTheReportAsText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "batch.json")
	if err := os.WriteFile(file, []byte(request), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, value := range map[string]string{"inline": request, "file": "file://" + file, "standard input": "-"} {
		status, stdout, stderr := runExplain(t, request, "-nodes", threeNodes, "-keys", "orders=pk,users=id", "--request-items", value)
		if status != explained || stderr != "" || stdout != requestAsText {
			t.Errorf("%s: status %d, errors %q, output\n%s\nwant\n%s", from, status, stderr, stdout, requestAsText)
		}
	}
}

func TestTheReportWithoutVotes(t *testing.T) {
	status, stdout, stderr := runExplain(t, "", "-nodes", "http://a,http://b", "-request-items", "{}")
	want := `Nodes: 2
  http://a
  http://b

Candidates: 0

Skipped: 0

Votes: 0

Order
  none: without a vote the batch is spread over the nodes
`
	if status != explained || stderr != "" || stdout != want {
		t.Errorf("status %d, errors %q, output\n%s\nwant\n%s", status, stderr, stdout, want)
	}
}

// Lists are there even if they are empty. The hashes are shared vectors.
func TestTheReportAsJSON(t *testing.T) {
	status, stdout, stderr := runExplain(t, "", "-json", "-nodes", "http://a", "-keys", "orders=p&k", "-request-items",
		`{"orders": [{"PutRequest": {"Item": {"p&k": {"S": "user_12\u0033"}}}}, {"DeleteRequest": {"Key": {"p&k": {"B": ""}}}}]}`)
	want := `{
  "nodes": [
    "http://a"
  ],
  "candidates": [
    {
      "table": "orders",
      "position": 0,
      "operation": "put",
      "attribute": "p&k",
      "key": {
        "S": "user_123"
      },
      "hash": "-4025731529809423594",
      "preferred": "http://a"
    },
    {
      "table": "orders",
      "position": 1,
      "operation": "delete",
      "attribute": "p&k",
      "key": {
        "B": ""
      },
      "hash": "8244620721157455449",
      "preferred": "http://a"
    }
  ],
  "skipped": [],
  "lookUp": [],
  "votes": [
    {
      "node": "http://a",
      "count": 2
    }
  ],
  "order": [
    "http://a"
  ]
}
`
	if status != explained || stderr != "" || stdout != want {
		t.Errorf("status %d, errors %q, output\n%s\nwant\n%s", status, stderr, stdout, want)
	}
}

func TestHelpIsTheUsage(t *testing.T) {
	if status, stdout, stderr := runExplain(t, "", "-h"); status != explained || stdout != usage || stderr != "" {
		t.Errorf("status %d, errors %q, output\n%s", status, stderr, stdout)
	}
}
