package resolver_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/internal/vectors"
	"github.com/keyroute/keyroute/resolver"
)

func FuzzParseNode(f *testing.F) {
	for _, v := range vectors.Endpoints(f) {
		for _, endpoint := range v.Input {
			f.Add(endpoint)
		}
	}
	for _, endpoint := range []string{
		"", "http://", "http://[::1", "http://[fe80::1%25eth0]:8000", "http://[fe80::1%25a%20b]", "http://a%25b", "http://n:", "http://n:080",
		"http://me@N:80/p?q#f", "https://n:443:", "http://%C3%89", "http://\xff", "http:n", "HTTPS://[::FFFF:1.2.3.4]:443",
	} {
		f.Add(endpoint)
	}
	f.Fuzz(func(t *testing.T, endpoint string) {
		n, err := resolver.ParseNode(endpoint)
		if err != nil {
			// The endpoint is named, but for a user and password.
			named := fmt.Sprintf("keyroute: endpoint %q: ", endpoint)
			if strings.Contains(endpoint, "@") {
				named = "keyroute: endpoint "
			}
			if n != nil || !strings.HasPrefix(err.Error(), named) {
				t.Fatalf("node %v, error %q, want none and one that begins with %q", n, err, named)
			}
			return
		}
		if n.Spelling() != endpoint {
			t.Errorf("spelling %q of %q", n.Spelling(), endpoint)
		}
		if n.Scheme() != "http" && n.Scheme() != "https" {
			t.Errorf("scheme %q of %q", n.Scheme(), endpoint)
		}
		if !strings.HasPrefix(n.String(), n.Scheme()+"://") {
			t.Errorf("%q is %q, its scheme %q", endpoint, n, n.Scheme())
		}
		again, err := resolver.ParseNode(n.String())
		if err != nil {
			t.Fatalf("%q is %q, which is not an endpoint: %v", endpoint, n, err)
		}
		if again.String() != n.String() || again.Scheme() != n.Scheme() {
			t.Errorf("%q is %q, which is %q", endpoint, n, again)
		}
		port := map[string]string{"http": ":80", "https": ":443"}[n.Scheme()]
		if want := strings.TrimSuffix(strings.ToLower(n.Host()), port); again.Host() != want {
			t.Errorf("%q dials %q, its canonical form %q, want %q", endpoint, n.Host(), again.Host(), want)
		}
	})
}

func FuzzHash(f *testing.F) {
	for _, length := range []int{0, 1, 14, 15, 16, 31, 126, 127, 128, 129, 143, 144, 2048, 2049} {
		for kind := range byte(4) {
			f.Add(kind, []byte(strings.Repeat("\xfe\x01k", length/3+1)[:length]))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, content []byte) {
		value := fuzzedValue(kind, content)
		got, ok := resolver.Hash(value)
		want, wantOK := referenceHash(value)
		if got != want || ok != wantOK {
			t.Errorf("%T %q: hash %d, %t, want %d, %t", value, content, got, ok, want, wantOK)
		}
	})
}

// fuzzedValue is an attribute value of a type chosen by kind. Half of all kinds
// can be keys.
func fuzzedValue(kind byte, content []byte) types.AttributeValue {
	switch kind % 12 {
	case 0, 4:
		return text(string(content))
	case 1, 5:
		return number(string(content))
	case 2, 6:
		return &types.AttributeValueMemberB{Value: content}
	case 3:
		return nil
	case 7:
		return &types.AttributeValueMemberBOOL{Value: len(content) > 0}
	case 8:
		return &types.AttributeValueMemberSS{Value: []string{string(content)}}
	case 9:
		return &types.UnknownUnionMember{Tag: "S", Value: content}
	case 10:
		return (*types.AttributeValueMemberS)(nil)
	}
	return (*types.AttributeValueMemberB)(nil)
}

// FuzzVote reads the number of nodes, and then a batch, from bytes.
func FuzzVote(f *testing.F) {
	f.Add([]byte{0, 9, 0, 0, 3, 'a', 'b', 'c', 17, 1, 1, '7', 2, 2, 0})
	f.Add([]byte{1, 143, 0, 0, 1, 'a', 0, 0, 1, 'a', 8, 4, 1, 'b', 40, 3, 2, 'x', 'y'})
	f.Add([]byte(strings.Repeat("\x00\x63\x00\x01\x02ab\x09\x05\x01z\x31\x02\x01q", 12)))
	f.Fuzz(func(t *testing.T, program []byte) {
		nodes, batch := fuzzedBatch(program)
		ring := ringOf(nodes)
		want := voteByDefinition(nodes, batch, knownKeys, seededIntn)
		random := rand.New(rand.NewSource(int64(len(program))))
		for range 3 {
			var plan resolver.Plan
			asked := newSchema(knownKeys)
			if voted := plan.PreferVoted(ring, batch, asked); voted != (len(want.votes) > 0) {
				t.Fatalf("voted: %t, with votes %v", voted, want.votes)
			}
			if problem := differs(&plan, ring, asked, want); problem != "" {
				t.Fatal(problem)
			}
			if order := orderOf(&plan); len(want.votes) > 0 && !isPermutation(order, nodes) {
				t.Fatalf("not an order of %d nodes: %v", nodes, order)
			}
			batch = shuffled(random, batch)
		}
	})
}

// fuzzedBatch takes two bytes for the number of nodes, and for each write one
// for its form and table, one for the type of its key, one for the key's length
// and the key.
func fuzzedBatch(program []byte) (nodes int, batch map[string][]types.WriteRequest) {
	next := func(n int) []byte {
		n = min(n, len(program))
		taken := program[:n]
		program = program[n:]
		return append(taken, make([]byte, 3)...)
	}
	size := next(2)
	nodes = 1 + (int(size[0])<<8|int(size[1]))%400
	batch = map[string][]types.WriteRequest{}
	for writes := 0; len(program) > 0 && writes < 64; writes++ {
		head := next(3)
		table := randomTables[int(head[0]>>3)%len(randomTables)]
		key := slices.Clone(next(int(head[2])))
		a := attributes{"other": text("x"), knownKeys[table]: fuzzedValue(head[1], key)}
		var write types.WriteRequest
		switch head[0] & 7 {
		case 0, 1, 2:
			write = put(a)
		case 3, 4:
			write = del(a)
		case 5:
			write = put(attributes{"other": text("x")})
		case 6:
			write = types.WriteRequest{PutRequest: put(a).PutRequest, DeleteRequest: del(a).DeleteRequest}
		case 7:
			write = del(nil)
		}
		batch[table] = append(batch[table], write)
	}
	return nodes, batch
}
