package cluster_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/keyroute/keyroute/integration/cluster"
)

// post makes an unsigned request for a DynamoDB operation, and checks what
// holds for the answers to all of them.
func post(t *testing.T, c *cluster.Cluster, operation, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, c.Node(0).URL()+"/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	response, err := c.HTTPClient().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "content type", response.Header.Get("Content-Type"), "application/x-amz-json-1.0")
	for _, name := range []string{"X-Amzn-Requestid", "X-Amz-Crc32"} {
		if _, sent := response.Header[name]; sent {
			t.Errorf("the answer to %s has a header %s", operation, name)
		}
	}
	return response.StatusCode, string(raw)
}

func TestErrorsOnTheWire(t *testing.T) {
	c := cluster.New(t)
	const namespace = `{"__type":"com.amazonaws.dynamodb.v20120810#`
	for _, test := range []struct{ operation, body, want string }{
		{"DescribeTable", `{"TableName":"nothing"}`,
			`ResourceNotFoundException","message":"Requested resource not found: Table: nothing not found"}`},
		{"DescribeTable", `{"TableName":".scylla.alternator.system.local"}`, `ResourceNotFoundException","message":` +
			`"Requested resource not found: Table: .scylla.alternator.system.local not found"}`},
		{"TransactWriteItems", `{}`, `UnknownOperationException","message":"Unsupported operation TransactWriteItems"}`},
		{"TransactGetItems", `{}`, `UnknownOperationException","message":"Unsupported operation TransactGetItems"}`},
		{"ExecuteStatement", `{}`, `UnknownOperationException","message":"Unsupported operation ExecuteStatement"}`},
		{"", `{}`, `UnknownOperationException","message":"Unsupported operation "}`},
		{"GetItem", `{`, `ValidationException","message":"unexpected end of JSON input"}`},
	} {
		status, answer := post(t, c, test.operation, test.body)
		equal(t, "status of "+test.operation, status, http.StatusBadRequest)
		equal(t, "answer to "+test.operation, answer, namespace+test.want)
	}
}

func TestTooLargeRequest(t *testing.T) {
	c := cluster.New(t)
	status, answer := post(t, c, "PutItem", strings.Repeat(" ", 16<<20+1))
	equal(t, "status", status, http.StatusRequestEntityTooLarge)
	if !strings.Contains(answer, `#PayloadTooLarge"`) {
		t.Errorf("answer is %s", answer)
	}
	status, _ = post(t, c, "ListTables", "{}"+strings.Repeat(" ", 16<<20-2))
	equal(t, "status of the largest request", status, http.StatusOK)
}

func TestHealthPage(t *testing.T) {
	c := cluster.New(t)
	r, body := get(t, c, c.Node(1).URL()+"/")
	equal(t, "status", r.StatusCode, http.StatusOK)
	equal(t, "content type", r.Header.Get("Content-Type"), "text/plain")
	equal(t, "body", body, "healthy: "+c.Node(1).HostPort())
}

func TestOtherPaths(t *testing.T) {
	c := cluster.New(t)
	for _, path := range []string{"/nothing", "/localnodes/", "/favicon.ico"} {
		r, body := get(t, c, c.Node(0).URL()+path)
		equal(t, "status of "+path, r.StatusCode, http.StatusNotFound)
		equal(t, "body of "+path, body, `{"message": "Not found", "code": 404}`)
	}
}

func TestDescribeEndpointsNamesTheNodeThatWasAsked(t *testing.T) {
	c := cluster.New(t)
	_, answer := post(t, c, "DescribeEndpoints", `{}`)
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(answer)); err != nil {
		t.Fatal(err)
	}
	equal(t, "answer", compact.String(),
		`{"Endpoints":[{"Address":"`+c.Node(0).HostPort()+`","CachePeriodInMinutes":1440}]}`)
}
