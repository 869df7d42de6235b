package resolver_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/keyroute/keyroute/resolver"
)

func TestRingIsSortedBytewiseWithoutDuplicates(t *testing.T) {
	endpoints := []string{
		"https://a", "http://10.0.0.10:8000", "http://10.0.0.1:8000", "http://10.0.0.1", "http://n",
		"http://n-1", "http://n.1", "http://N1", "http://[::1]", "http://n:80", "http://10.0.0.1:8000",
	}
	want := []string{
		"http://10.0.0.1", "http://10.0.0.10:8000", "http://10.0.0.1:8000", "http://[::1]",
		"http://n", "http://n-1", "http://n.1", "http://n1", "https://a",
	}
	nodes := parse(t, endpoints...)
	shuffle := rand.New(rand.NewSource(1))
	for range 100 {
		if got := canonical(resolver.NewRing(nodes...)); !slices.Equal(got, want) {
			t.Fatalf("ring %q, want %q", got, want)
		}
		shuffle.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	}
}

// TestRingKeepsTheFirstSpelling takes a list that is long enough for a sort
// that is not stable to show.
func TestRingKeepsTheFirstSpelling(t *testing.T) {
	const hosts = 50
	spellings := []string{"http://n%02d:80", "HTTP://N%02d", "http://n%02d/", "http://n%02d"}
	for range spellings {
		var endpoints []string
		for _, spelling := range spellings {
			for host := range hosts {
				endpoints = append(endpoints, fmt.Sprintf(spelling, (host*7)%hosts))
			}
		}
		ring := resolver.NewRing(parse(t, endpoints...)...)
		if ring.Len() != hosts {
			t.Fatalf("%d nodes, want %d", ring.Len(), hosts)
		}
		for host, n := range ring.Nodes() {
			if want := fmt.Sprintf(spellings[0], host); n.Spelling() != want {
				t.Errorf("node %d is spelled %q, want %q", host, n.Spelling(), want)
			}
		}
		spellings = append(spellings[1:], spellings[0])
	}
}

func TestRingDoesNotRetainItsInput(t *testing.T) {
	nodes := parse(t, "http://b", "http://a", "http://c")
	ring := resolver.NewRing(nodes...)
	if nodes[0].String() != "http://b" {
		t.Error("the input was sorted in place")
	}
	nodes[0], nodes[1], nodes[2] = nil, nil, nil
	if got, want := canonical(ring), []string{"http://a", "http://b", "http://c"}; !slices.Equal(got, want) {
		t.Errorf("ring %q after its input changed, want %q", got, want)
	}
}

func TestRingNodesIsACopy(t *testing.T) {
	ring := resolver.NewRing(parse(t, "http://a", "http://b")...)
	ring.Nodes()[0] = nil
	if ring.Node(0).String() != "http://a" {
		t.Error("writing to Nodes() changed the ring")
	}
	_ = append(ring.Nodes()[:1], nil)
	if ring.Node(1).String() != "http://b" {
		t.Error("appending to Nodes() changed the ring")
	}
}

func TestRingLeavesOutNilNodes(t *testing.T) {
	nodes := append(append([]*resolver.Node{nil}, parse(t, "http://b", "http://a")...), nil, nil)
	if got, want := canonical(resolver.NewRing(nodes...)), []string{"http://a", "http://b"}; !slices.Equal(got, want) {
		t.Errorf("ring %q, want %q", got, want)
	}
	if n := resolver.NewRing(nil, nil).Len(); n != 0 {
		t.Errorf("a ring of %d nodes from nil alone", n)
	}
}

func TestRingIndex(t *testing.T) {
	ring := ringOf(400)
	for i, n := range ring.Nodes() {
		if got, ok := ring.Index(n.String()); !ok || got != i {
			t.Errorf("Index(%q) = %d, %t, want %d", n, got, ok, i)
		}
	}
	for _, stranger := range []string{"", "http://", "http://10.0.0.0", "http://10.0.0.0:8001", "zzz"} {
		if i, ok := ring.Index(stranger); ok {
			t.Errorf("Index(%q) = %d, want none", stranger, i)
		}
	}
	if _, ok := new(resolver.Ring).Index("http://a"); ok {
		t.Error("an empty ring has a node")
	}
}

func TestRingEqual(t *testing.T) {
	base := resolver.NewRing(parse(t, "http://a:8000", "http://b:8000")...)
	for _, c := range []struct {
		name      string
		endpoints []string
		want      bool
	}{
		{"same", []string{"http://a:8000", "http://b:8000"}, true},
		{"other order and repeated", []string{"http://b:8000", "http://a:8000", "http://b:8000"}, true},
		{"a node less", []string{"http://a:8000"}, false},
		{"a node more", []string{"http://a:8000", "http://b:8000", "http://c:8000"}, false},
		{"another node", []string{"http://a:8000", "http://c:8000"}, false},
		{"another port", []string{"http://a:8000", "http://b:8001"}, false},
		{"another scheme", []string{"http://a:8000", "https://b:8000"}, false},
		{"another spelling of the host", []string{"http://a:8000", "http://B:8000"}, true},
		{"none", nil, false},
	} {
		other := resolver.NewRing(parse(t, c.endpoints...)...)
		if base.Equal(other) != c.want || other.Equal(base) != c.want {
			t.Errorf("%s: Equal is %t and %t, want %t", c.name, base.Equal(other), other.Equal(base), c.want)
		}
	}
	if !new(resolver.Ring).Equal(resolver.NewRing()) {
		t.Error("two empty rings are not equal")
	}
}
