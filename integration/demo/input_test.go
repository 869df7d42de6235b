package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// read reads writes, and what was reported with the numbers of the lines.
func read(t *testing.T, input string) (writes []write, reports []string) {
	t.Helper()
	writes, err := readWrites(strings.NewReader(input), func(line int, reason error) {
		reports = append(reports, fmt.Sprintf("%d %v", line, reason))
	})
	if err != nil {
		t.Fatal(err)
	}
	return writes, reports
}

func TestReadWrites(t *testing.T) {
	writes, reports := read(t, "\n"+putLine("a", "1")+"  \r\n"+
		`{"table":"events","PutRequest":{"Item":{"shop":{"N":"-3.5"},"at":{"S":"9"},"x":{"NULL":true}}}}`+"\r\n"+
		strings.TrimSpace(deleteLine("é")))
	if len(reports) != 0 || len(writes) != 3 {
		t.Fatalf("got %d writes, reports %q", len(writes), reports)
	}
	for i, wanted := range []string{`orders customer="a"`, `events shop=-3.5 at="9"`, `orders customer="é"`} {
		if writes[i].item != wanted {
			t.Errorf("write %d is of %s, want %s", i, writes[i].item, wanted)
		}
	}
	if writes[1].partition != "events shop=-3.5" {
		t.Errorf("partition is %s", writes[1].partition)
	}
	if writes[0].hash == writes[2].hash || writes[2].request.DeleteRequest == nil {
		t.Errorf("writes are %+v", writes)
	}
}

func TestWrongLinesAreReported(t *testing.T) {
	long := `{"table":"orders","PutRequest":{"Item":{"customer":{"S":"` + strings.Repeat("x", maxLine) + `"}}}}`
	event := func(shop, at string) string {
		return `{"table":"events","PutRequest":{"Item":{"shop":` + shop + `,"at":` + at + `}}}`
	}
	for _, c := range []struct{ line, reason string }{
		{`{"table":"orders"`, "not JSON: unexpected end of JSON input at byte 17"},
		{`{"PutRequest":{"Item":{}}}`, "table: missing"},
		{`{"table":"order","PutRequest":{"Item":{}}}`, `table: "order" is not a table of the demo, which has orders and events`},
		{`{"table":"orders","PutRequest":{"Item":{}}}`, "PutRequest.Item.customer: missing, but it is a key of the table"},
		{putLine("", "1"), "PutRequest.Item.customer: a key must not be empty"},
		{deleteLine(""), "DeleteRequest.Key.customer: a key must not be empty"},
		{`{"table":"orders","PutRequest":{"Item":{"customer":{"N":"7"}}}}`,
			"PutRequest.Item.customer: must be of type S, as it is a key of the table"},
		{event(`{"S":"3"}`, `{"S":"9"}`), "PutRequest.Item.shop: must be of type N, as it is a key of the table"},
		{event(`{"BOOL":true}`, `{"S":"9"}`), "PutRequest.Item.shop: must be of type N, as it is a key of the table"},
		{event(`{"N":"3"}`, `{"N":"9"}`), "PutRequest.Item.at: must be of type S, as it is a key of the table"},
		{event(`{"N":"1e3"}`, `{"S":"9"}`),
			`PutRequest.Item.shop: a number that is a key must be written without an exponent and needless zeros, is "1e3"`},
		{event(`{"N":"x"}`, `{"S":"9"}`), `PutRequest.Item.shop: N is not a number: "x"`},
		{`{"table":"orders","DeleteRequest":{"Key":{"customer":{"S":"a"},"note":{"S":"b"}}}}`,
			"DeleteRequest.Key.note: not a key of the table orders"},
		{long, "longer than 1048576 bytes"},
	} {
		writes, reports := read(t, putLine("a", "1")+strings.TrimSpace(c.line)+"\n"+putLine("b", "1"))
		if len(writes) != 2 || len(reports) != 1 || reports[0] != "2 "+c.reason {
			t.Errorf("%.80s: %d writes, reports %q, want %q", c.line, len(writes), reports, c.reason)
		}
	}
	if writes, reports := read(t, putLine("a", "1")+long); len(writes) != 1 || len(reports) != 1 {
		t.Errorf("a long line at the end: %d writes, reports %.80q", len(writes), reports)
	}
}

func TestNumberKeysAreWrittenPlainly(t *testing.T) {
	for number, plain := range map[string]bool{
		"0": true, "7": true, "-7": true, "100": true, "0.5": true, "-0.05": true, "12.25": true,
		"-0": false, "00": false, "07": false, "+7": false, "7.0": false, "7.": false, ".5": false,
		"1.50": false, "1e3": false, "1E3": false, "-0.0": false,
	} {
		err := tables[1].keys[0].checkSpelling(number)
		if (err == nil) != plain {
			t.Errorf("%s: %v", number, err)
		}
	}
}

func TestReadWritesPassesOnTheErrorOfItsReader(t *testing.T) {
	broken := errors.New("broken")
	if _, err := readWrites(iotest.ErrReader(broken), nil); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}

func TestMatches(t *testing.T) {
	for _, table := range tables {
		in := table.definition(table.name)
		d := &types.TableDescription{KeySchema: in.KeySchema, AttributeDefinitions: in.AttributeDefinitions}
		for _, other := range tables {
			if got := other.matches(d); got != (other == table) {
				t.Errorf("%s matches %s: %v", other.name, table.name, got)
			}
		}
	}
}
