package discovery

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestScopeText(t *testing.T) {
	for _, c := range []struct {
		scope Scope
		text  string
	}{
		{Scope{}, "cluster"},
		{Cluster(), "cluster"},
		{Datacenter("dc1"), "datacenter:dc1"},
		{Rack("dc1", "r1"), "rack:dc1/r1"},
		{Datacenter("dc1", Cluster()), "datacenter:dc1,cluster"},
		{Datacenter("dc1", Cluster(), Datacenter("ignored")), "datacenter:dc1,cluster"},
		{Rack("dc1", "r1", Datacenter("dc1", Datacenter("dc2", Cluster()))), "rack:dc1/r1,datacenter:dc1,datacenter:dc2,cluster"},
		{Rack("a,b/c d%", "\u00e9:1"), "rack:a%2Cb%2Fc%20d%25/%C3%A9:1"},
	} {
		if got := c.scope.String(); got != c.text {
			t.Errorf("text %q, want %q", got, c.text)
		}
		if text, err := c.scope.MarshalText(); string(text) != c.text || err != nil {
			t.Errorf("marshalled as %q, %v, want %q", text, err, c.text)
		}
		var parsed Scope
		if err := parsed.UnmarshalText([]byte(c.text)); err != nil || parsed.String() != c.text || parsed.query() != c.scope.query() {
			t.Errorf("%q is read as %q, error %v", c.text, parsed, err)
		}
		if err := c.scope.Validate(); err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestTextThatIsNoScope(t *testing.T) {
	for _, text := range []string{
		"", " cluster", "Cluster", "cluster:", "cluster:x", "dc1", "datacenter", "datacenter:", "datacenter:dc1/r1", "rack", "rack:",
		"rack:dc1", "rack:dc1/", "rack:/r1", "datacenter:dc1,", ",cluster", "datacenter:dc1,nonsense", "datacenter:%", "rack:dc1/%zz",
	} {
		scope := Datacenter("before")
		err := scope.UnmarshalText([]byte(text))
		if err == nil || !strings.Contains(err.Error(), "keyroute: ") || scope.String() != "datacenter:before" {
			t.Errorf("%q is read as %q, error %v", text, scope, err)
		}
	}
}

func TestScopeValidate(t *testing.T) {
	for _, c := range []struct {
		scope Scope
		want  string
	}{
		{Datacenter(""), "keyroute: a datacenter or rack scope needs the datacenter's name"},
		{Rack("", "r1"), "keyroute: a datacenter or rack scope needs the datacenter's name"},
		{Rack("dc1", ""), `keyroute: the rack scope of datacenter "dc1" needs the rack's name`},
		{Datacenter("dc1", Rack("dc1", "r1", Datacenter(""))), "keyroute: a datacenter or rack scope needs the datacenter's name"},
	} {
		if err := c.scope.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %q", c.scope, err, c.want)
		}
		if _, err := NewNodes(NodesConfig{Seeds: parseNodes(t, oneSeed), Scope: c.scope}); err == nil || err.Error() != c.want {
			t.Errorf("%s: nodes with error %v, want %q", c.scope, err, c.want)
		}
	}
}

// TestAScopeSharesNothing checks that a scope keeps what its fallback was.
func TestAScopeSharesNothing(t *testing.T) {
	fallbacks := []Scope{Cluster()}
	scope := Datacenter("dc1", fallbacks...)
	fallbacks[0] = Datacenter("dc2")
	if got := scope.String(); got != "datacenter:dc1,cluster" {
		t.Errorf("the scope became %q", got)
	}
}

// TestTheServerSeesTheNames checks that names arrive as they are, also at a
// server that does not take a plus for a space.
func TestTheServerSeesTheNames(t *testing.T) {
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.RawQuery, "+") {
			t.Errorf("the query %q has a plus", r.URL.RawQuery)
		}
		for _, name := range []string{"dc", "rack"} {
			for _, value := range r.URL.Query()[name] {
				seen = append(seen, name+" "+value)
			}
		}
		_, _ = w.Write([]byte(`["127.0.0.1"]`))
	}))
	defer server.Close()
	node := parseNodes(t, server.URL)[0]
	for _, c := range []struct {
		scope Scope
		want  []string
	}{
		{Cluster(), nil},
		{Datacenter("a&b=c d"), []string{"dc a&b=c d"}},
		{Datacenter("a+b%20c;d#e?f"), []string{"dc a+b%20c;d#e?f"}},
		{Rack("dc1", "r&1 \u00e9/x"), []string{"dc dc1", "rack r&1 \u00e9/x"}},
	} {
		seen = nil
		if _, err := fetchLocalNodes(t.Context(), server.Client(), node, c.scope.query()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(seen, c.want) {
			t.Errorf("%s: the server sees %q, want %q", c.scope, seen, c.want)
		}
	}
}

func TestFallbacks(t *testing.T) {
	rack, dc1, dc2 := "dc=dc1&rack=r1", "dc=dc1", "dc=dc2"
	scope := Rack("dc1", "r1", Datacenter("dc1", Datacenter("dc2", Cluster())))
	for _, c := range []struct {
		name  string
		lists map[string][]string // by query; others are empty
		fail  []string            // queries that are answered with a 500
		want  []string            // hosts of the ring
	}{
		{"the rack itself", map[string][]string{rack: {"10.0.0.1"}, dc1: {"10.0.0.1", "10.0.0.2"}}, nil, []string{"10.0.0.1"}},
		{"the rack is empty", map[string][]string{dc1: {"10.0.0.1", "10.0.0.2"}}, nil, []string{"10.0.0.1", "10.0.0.2"}},
		{"the rack fails", map[string][]string{dc1: {"10.0.0.1", "10.0.0.2"}}, []string{rack}, []string{"10.0.0.1", "10.0.0.2"}},
		{"no valid entry in the rack", map[string][]string{rack: {"a:80"}, dc1: {"10.0.0.2"}}, nil, []string{"10.0.0.2"}},
		{"rack and datacenter are empty", map[string][]string{dc2: {"10.0.1.1"}}, nil, []string{"10.0.1.1"}},
		{"empty, failing, empty", map[string][]string{"": {"10.0.0.9"}}, []string{dc1}, []string{"10.0.0.9"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFakeCluster()
				fake.set(func(r *http.Request) (*http.Response, error) {
					if slices.Contains(c.fail, r.URL.RawQuery) {
						return answers(500, "")(r)
					}
					return listsBy(c.lists)(r)
				}, "10.0.0.1")
				n := newNodes(t, NodesConfig{Scope: scope, HealthDisabled: true}, oneSeed)
				use(n, fake)
				if err := n.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				wantRing(t, n, endpoints(c.want...)...)
				if counters, _ := n.Counters(); counters.Refreshes != 1 {
					t.Errorf("%d refreshes, want it within one", counters.Refreshes)
				}
			})
		})
	}
}

// TestAllFallbacksFail checks that the error tells of each of them.
func TestAllFallbacksFail(t *testing.T) {
	c := newFakeCluster()
	c.set(lists(), "10.0.0.1")
	n := newNodes(t, NodesConfig{Scope: Datacenter("dc1", Cluster()), HealthDisabled: true}, oneSeed, "http://10.0.0.2:8000")
	use(n, c)
	before := n.View()
	err := n.Refresh(t.Context())
	for _, want := range []string{"scope datacenter:dc1: ", "scope cluster: ", "http://10.0.0.1:8000 lists no node", "connection refused"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	if n.View() != before {
		t.Errorf("the ring is %q", ring(n))
	}
}

// TestAScopeIsAskedOfWhoAnswers checks that a refresh does not wait for nodes
// that are known to be dead while others answer, and that it finds any one node
// that answers.
func TestAScopeIsAskedOfWhoAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosts := []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"}
		c := newFakeCluster()
		c.setDatacenter(hosts...)
		good := listsBy(map[string][]string{"dc=dc1": hosts, "": hosts})
		c.set(good, hosts...)
		n := newNodes(t, NodesConfig{Scope: Datacenter("dc1")}, oneSeed)
		n.Start(c)
		if err := n.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // for the loop's own
		c.set(hangs, hosts[:4]...)
		for _, host := range hosts[:4] {
			m := memberOf(t, n, "http://"+host+":8000")
			n.Report(m, TrafficFailure, m.Generation())
		}
		for range 5 {
			start := time.Now()
			if err := n.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("a refresh took %v", took)
			}
		}
	})
}

// TestASeedIsAskedBeforeTheDead checks the same when all that are left to answer
// is a seed outside the scope.
func TestASeedIsAskedBeforeTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		hosts := []string{"10.0.0.1", "10.0.0.2"}
		c.set(listsBy(map[string][]string{"dc=dc1": hosts}), "10.0.0.1", "10.0.0.2", "10.0.0.9")
		n := newNodes(t, NodesConfig{Scope: Datacenter("dc1")}, oneSeed, "http://10.0.0.9:8000")
		n.Start(c)
		refresh(t, n)
		synctest.Wait() // for the loop's own
		wantRing(t, n, endpoints(hosts...)...)
		c.set(hangs, hosts...)
		for _, host := range hosts {
			observe(memberOf(t, n, "http://"+host+":8000"), TrafficFailure, 1)
		}
		start := time.Now()
		refresh(t, n)
		if took := time.Since(start); took != 0 {
			t.Errorf("a refresh took %v", took)
		}
	})
}

func FuzzParseScope(f *testing.F) {
	for _, text := range []string{"cluster", "datacenter:dc1", "rack:dc1/r1,datacenter:dc1,cluster", "rack:a%2Cb/c%2Fd", "rack:dc1/r1/x", "datacenter:a:b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		scope, err := ParseScope(text)
		if err != nil {
			return
		}
		again, err := ParseScope(scope.String())
		if err != nil || again.String() != scope.String() || again.query() != scope.query() {
			t.Fatalf("%q is %q, which is %q, error %v", text, scope, again, err)
		}
	})
}
