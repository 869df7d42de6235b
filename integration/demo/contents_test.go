package main

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/internal/ddbjson"
)

func itemOf(t *testing.T, json string) attributes {
	t.Helper()
	item, err := ddbjson.Item([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return item
}

func TestContentsAfterTakesTheLastWrite(t *testing.T) {
	writes, _ := read(t, putLine("a", "1")+putLine("b", "1")+putLine("c", "1")+
		deleteLine("b")+putLine("a", "2")+deleteLine("c")+putLine("c", "3")+deleteLine("d"))
	got := contentsAfter(writes)
	wanted := contents{
		`orders customer="a"`: itemOf(t, `{"customer":{"S":"a"},"note":{"S":"2"}}`),
		`orders customer="c"`: itemOf(t, `{"customer":{"S":"c"},"note":{"S":"3"}}`),
	}
	if d := compare(got, wanted); d.any() {
		t.Error(&d)
	}
}

func TestCompare(t *testing.T) {
	one, two := itemOf(t, `{"n":{"N":"1"}}`), itemOf(t, `{"n":{"N":"2"}}`)
	for _, c := range []struct {
		got, want contents
		reason    string
	}{
		{contents{}, contents{}, ""},
		{contents{"a": one}, contents{"a": one}, ""},
		{contents{}, contents{"a": one}, "1 item lost (a)"},
		{contents{"b": one}, contents{"a": one, "b": one, "c": two}, "2 items lost (one is a)"},
		{contents{"a": one}, contents{"a": two}, "1 item not as last written (a)"},
		{contents{"a": one}, contents{}, "1 item there although deleted (a)"},
		{contents{"a": one, "b": one}, contents{"b": two, "c": one},
			"1 item lost (c), 1 item not as last written (b), 1 item there although deleted (a)"},
	} {
		d := compare(c.got, c.want)
		if d.String() != c.reason || d.any() != (c.reason != "") {
			t.Errorf("got %q, want %q", d.String(), c.reason)
		}
	}
}

func TestSameAttributes(t *testing.T) {
	const every = `{"s":{"S":"x"},"n":{"N":"1"},"b":{"B":"AQ=="},"bool":{"BOOL":true},"null":{"NULL":true},` +
		`"ss":{"SS":["x","y"]},"ns":{"NS":["1","2"]},"bs":{"BS":["AQ==","Ag=="]},"l":{"L":[{"N":"1"},{"S":"x"}]},"m":{"M":{"a":{"N":"1"}}}}`
	if !sameAttributes(itemOf(t, every), itemOf(t, every)) {
		t.Error("an item is not the same as itself")
	}
	for a, same := range map[string][]string{
		`{"a":{"N":"1000"}}`:                   {`{"a":{"N":"1e3"}}`, `{"a":{"N":"1000.0"}}`},
		`{"a":{"SS":["x","y"]}}`:               {`{"a":{"SS":["y","x"]}}`},
		`{"a":{"NS":["1","2"]}}`:               {`{"a":{"NS":["2.0","1"]}}`},
		`{"a":{"BS":["AQ==","Ag=="]}}`:         {`{"a":{"BS":["Ag==","AQ=="]}}`},
		`{"a":{"L":[{"M":{"b":{"N":"10"}}}]}}`: {`{"a":{"L":[{"M":{"b":{"N":"1e1"}}}]}}`},
	} {
		for _, b := range same {
			if !sameAttributes(itemOf(t, a), itemOf(t, b)) {
				t.Errorf("%s and %s differ", a, b)
			}
		}
	}
	different := []string{
		`{}`, `{"b":{"S":"x"}}`, `{"a":{"S":"x"},"b":{"S":"x"}}`,
		`{"a":{"S":"x"}}`, `{"a":{"S":"1"}}`, `{"a":{"N":"1"}}`, `{"a":{"N":"2"}}`,
		`{"a":{"B":"AQ=="}}`, `{"a":{"B":"Ag=="}}`, `{"a":{"BOOL":true}}`, `{"a":{"BOOL":false}}`, `{"a":{"NULL":true}}`,
		`{"a":{"SS":["x"]}}`, `{"a":{"SS":["y"]}}`, `{"a":{"SS":["x","y"]}}`,
		`{"a":{"NS":["1"]}}`, `{"a":{"NS":["2"]}}`, `{"a":{"BS":["AQ=="]}}`, `{"a":{"BS":["Ag=="]}}`,
		`{"a":{"L":[]}}`, `{"a":{"L":[{"S":"x"}]}}`, `{"a":{"L":[{"S":"y"}]}}`, `{"a":{"L":[{"S":"x"},{"S":"y"}]}}`,
		`{"a":{"M":{}}}`, `{"a":{"M":{"b":{"S":"x"}}}}`, `{"a":{"M":{"c":{"S":"x"}}}}`,
	}
	for i, a := range different {
		for j, b := range different {
			if got := sameAttributes(itemOf(t, a), itemOf(t, b)); got != (i == j) {
				t.Errorf("%s and %s are the same: %v", a, b, got)
			}
		}
	}
	if sameValue(&types.UnknownUnionMember{}, &types.UnknownUnionMember{}) {
		t.Error("what is not known is the same")
	}
}
