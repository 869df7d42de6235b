package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestWrongFlags(t *testing.T) {
	const nodes, items = "-nodes=http://a", "-request-items={}"
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "-request-items: must be given\none of -nodes and -seeds must be given\n"},
		{[]string{nodes}, "-request-items: must be given\n"},
		{[]string{items}, "one of -nodes and -seeds must be given\n"},
		{[]string{items, nodes, "-seeds=http://b"}, "one of -nodes and -seeds must be given\n"},
		{[]string{items, "-nodes="}, "-nodes: must name at least one\n"},
		{[]string{items, "-seeds=,"}, "-seeds: must name at least one\n"},
		{[]string{items, nodes, "-scope=datacenter:dc1"}, "-scope: only goes with -seeds\n"},
		{[]string{items, nodes, "-secret=x"}, "-secret: only goes with -seeds\n"},
		{[]string{items, "-seeds=http://a", "-scope=dc1"}, `invalid value "dc1" for flag -scope: keyroute: scope "dc1": must be `},
		{[]string{items, nodes, "more"}, `unknown argument "more"` + "\n"},
		{[]string{items, nodes, "-x"}, "flag provided but not defined: -x\n"},
		{[]string{items, "-nodes=ftp://a"}, `keyroute: endpoint "ftp://a": the scheme must be http or https` + "\n"},
		{[]string{items, nodes, "-keys=orders"}, `-keys: "orders" must be TABLE=ATTRIBUTE` + "\n"},
		{[]string{items, nodes, "-keys=orders=pk,=id"}, `-keys: "=id" must be TABLE=ATTRIBUTE` + "\n"},
		{[]string{items, nodes, "-keys=orders=pk,arn:aws:dynamodb:us-east-1:1:table/orders=id"}, `-keys: the table "orders" is there twice` + "\n"},
	} {
		status, stdout, stderr := runExplain(t, "", test.args...)
		if status != misused || stdout != "" || !strings.HasPrefix(stderr, "explain: "+test.want) || !strings.HasSuffix(stderr, "\nSee -h for what there is.\n") {
			t.Errorf("%q: status %d, output %q, errors %q, want %q", test.args, status, stdout, stderr, test.want)
		}
	}
}

func TestMalformedRequests(t *testing.T) {
	for request, want := range map[string]string{
		"{":                               "line 1, column 1: unexpected end of JSON input",
		"orders":                          "line 1, column 1: invalid character 'o' looking for beginning of value",
		"{\n  \"orders\": [\n    {},\n]}": "line 4, column 1: invalid character ']' looking for beginning of value",
		"{\n\n}}":                         "line 3, column 2: invalid character '}' after top-level value",
		"{\n":                             "line 2, column 1: unexpected end of JSON input",
		"\xff{}":                          "line 1, column 1: invalid character '\u00ff' looking for beginning of value",
		"{\"\xff\": []}":                  "not valid UTF-8",
		"[]":                              "must be an object, is an array",
		`{"orders": {}}`:                  "orders: must be an array, is an object",
		`{"orders": [7]}`:                 "orders[0]: must be an object, is a number",
		`{"orders": [{"Put": {}}]}`:       "orders[0].Put: unknown field",
		`{"orders": [{"PutRequest": {"Key": {}}}]}`:                          "orders[0].PutRequest.Key: unknown field",
		`{"orders": [{}, {"PutRequest": {"Item": {"pk": {"N": 1}}}}]}`:       "orders[1].PutRequest.Item.pk: N must be a string, is a number",
		`{"orders": [{"PutRequest": {"Item": {"pk": "a"}}}]}`:                "orders[0].PutRequest.Item.pk: must be an object, is a string",
		`{"orders": [{"DeleteRequest": {"Key": {"pk": {"B": "not so"}}}}]}`:  "orders[0].DeleteRequest.Key.pk: B is not base64: illegal base64 data at input byte 3",
		`{"orders": [{"DeleteRequest": {"Key": {"pk": {"S":"a"}}, "x":1}}]}`: "orders[0].DeleteRequest.x: unknown field",
	} {
		for from, name := range map[string]string{request: "-request-items", "-": "standard input"} {
			status, stdout, stderr := runExplain(t, request, "-nodes", "http://a", "-request-items", from)
			if status != failed || stdout != "" || stderr != "explain: "+name+": "+want+"\n" {
				t.Errorf("%q: status %d, output %q, errors %q, want %q", request, status, stdout, stderr, want)
			}
		}
	}
}

func TestARequestThatCannotBeRead(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.json")
	status, stdout, stderr := runExplain(t, "", "-nodes", "http://a", "-request-items", "file://"+missing)
	if status != failed || stdout != "" || stderr != "explain: open "+missing+": no such file or directory\n" {
		t.Errorf("a missing file: status %d, output %q, errors %q", status, stdout, stderr)
	}

	status, stdout, stderr = runExplain(t, "", "-nodes", "http://a", "-request-items", "-")
	if status != failed || stdout != "" || stderr != "explain: standard input: line 1, column 1: unexpected end of JSON input\n" {
		t.Errorf("empty standard input: status %d, output %q, errors %q", status, stdout, stderr)
	}

	_, err := readRequest("-", iotest.ErrReader(errors.New("broken")))
	if err == nil || err.Error() != "standard input: broken" {
		t.Errorf("broken standard input: %v", err)
	}
}

// An output that cannot be written is a failure, too.
func TestAnOutputThatCannotBeWritten(t *testing.T) {
	for _, form := range []string{"-json=true", "-json=false"} {
		var errs strings.Builder
		status := run(t.Context(), []string{"-nodes=http://a", "-request-items={}", form}, strings.NewReader(""), brokenWriter{}, &errs)
		if status != failed || errs.String() != "explain: broken\n" {
			t.Errorf("%s: status %d, errors %q", form, status, errs.String())
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }
