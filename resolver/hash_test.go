package resolver_test

import (
	"bytes"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/resolver"
)

// TestHashOfEveryLength crosses the lengths at which a value is hashed in
// another way, and every length of the last block.
func TestHashOfEveryLength(t *testing.T) {
	for length := range 600 {
		content := bytes.Repeat([]byte{0xfe, 'k', 0x80, 0, 0xff, '7'}, length/6+1)[:length]
		for _, value := range []types.AttributeValue{
			text(string(content)), number(string(content)), binary(string(content)),
		} {
			want, _ := referenceHash(value)
			if got, ok := resolver.Hash(value); !ok || got != want {
				t.Errorf("%T of %d bytes: hash %d, %t, want %d", value, length, got, ok, want)
			}
		}
	}
}

func TestHashOfEmptyValues(t *testing.T) {
	for _, c := range []struct {
		name  string
		value types.AttributeValue
		want  int64
	}{
		{"S", text(""), 8849112093580131862},
		{"B", binary(""), 8244620721157455449},
		{"B without a slice", &types.AttributeValueMemberB{}, 8244620721157455449},
	} {
		if got, ok := resolver.Hash(c.value); !ok || got != c.want {
			t.Errorf("empty %s: hash %d, %t, want %d", c.name, got, ok, c.want)
		}
	}
}

func TestHashTellsTypesApart(t *testing.T) {
	s, _ := resolver.Hash(text("12345"))
	n, _ := resolver.Hash(number("12345"))
	b, _ := resolver.Hash(binary("12345"))
	if s != -6122888897254035317 || n != -3190731486301745196 || b != -3752463870508600385 {
		t.Errorf("12345 as S, N, B: %d, %d, %d", s, n, b)
	}
}

func TestHashOfANumberIsOfItsText(t *testing.T) {
	seen := map[int64]string{}
	for _, n := range []string{"1", "1.0", "1e0", "1E0", "+1", "01", " 1", ""} {
		h, ok := resolver.Hash(number(n))
		if other, same := seen[h]; !ok || same {
			t.Errorf("%q: hash %d, %t, the same as of %q", n, h, ok, other)
		}
		seen[h] = n
	}
}

// unhashable is every value that cannot be a partition key.
var unhashable = map[string]types.AttributeValue{
	"nil":           nil,
	"BOOL":          &types.AttributeValueMemberBOOL{Value: true},
	"NULL":          &types.AttributeValueMemberNULL{Value: true},
	"SS":            &types.AttributeValueMemberSS{Value: []string{"a"}},
	"NS":            &types.AttributeValueMemberNS{Value: []string{"1"}},
	"BS":            &types.AttributeValueMemberBS{Value: [][]byte{{1}}},
	"L":             &types.AttributeValueMemberL{Value: []types.AttributeValue{text("a")}},
	"M":             &types.AttributeValueMemberM{Value: attributes{"a": text("a")}},
	"unknown":       &types.UnknownUnionMember{Tag: "S", Value: []byte("a")},
	"nil S":         (*types.AttributeValueMemberS)(nil),
	"nil N":         (*types.AttributeValueMemberN)(nil),
	"nil B":         (*types.AttributeValueMemberB)(nil),
	"nil BOOL":      (*types.AttributeValueMemberBOOL)(nil),
	"nil NULL":      (*types.AttributeValueMemberNULL)(nil),
	"nil SS":        (*types.AttributeValueMemberSS)(nil),
	"nil NS":        (*types.AttributeValueMemberNS)(nil),
	"nil BS":        (*types.AttributeValueMemberBS)(nil),
	"nil L":         (*types.AttributeValueMemberL)(nil),
	"nil M":         (*types.AttributeValueMemberM)(nil),
	"nil unknown":   (*types.UnknownUnionMember)(nil),
	"foreign S":     foreign{text("a")},
	"foreign S ptr": &foreign{text("a")},
}

// A foreign is an attribute value that the SDK does not have.
type foreign struct{ types.AttributeValue }

func TestHashOfWhatCannotBeAKey(t *testing.T) {
	for name, value := range unhashable {
		if h, ok := resolver.Hash(value); ok || h != 0 {
			t.Errorf("%s: hash %d, %t, want none", name, h, ok)
		}
	}
}

func TestHashDoesNotChangeTheValue(t *testing.T) {
	for _, length := range []int{0, 1, 127, 128, 2047, 2048, 2049, 5000} {
		content := bytes.Repeat([]byte{7}, length)
		value := &types.AttributeValueMemberB{Value: content[:length:length]}
		resolver.Hash(value)
		if len(value.Value) != length || !bytes.Equal(value.Value, bytes.Repeat([]byte{7}, length)) {
			t.Errorf("a binary of %d bytes has changed", length)
		}
	}
}
