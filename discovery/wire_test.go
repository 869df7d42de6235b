package discovery

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// A node is a real HTTP server whose answers a test can change.
type node struct {
	*httptest.Server
	handler     atomic.Pointer[http.HandlerFunc]
	connections atomic.Int64
	requests    atomic.Int64
	plain       atomic.Int64 // requests without TLS
}

// startNode starts a node on 127.0.0.1.
func startNode(t *testing.T, withTLS bool) *node {
	return serve(t, listen(t, 1)[0], withTLS)
}

// listen listens on 127.0.0.1, 127.0.0.2, ..., on one port that is free on all
// of them.
func listen(t *testing.T, count int) []net.Listener {
	t.Helper()
	var err error
	for range 10 {
		var listeners []net.Listener
		port := 0
		for i := range count {
			var l net.Listener
			if l, err = new(net.ListenConfig).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.%d:%d", i+1, port)); err != nil {
				break
			}
			listeners = append(listeners, l)
			port = l.Addr().(*net.TCPAddr).Port
		}
		if err == nil {
			return listeners
		}
		for _, l := range listeners {
			_ = l.Close()
		}
	}
	t.Fatal(err)
	return nil
}

func serve(t *testing.T, listener net.Listener, withTLS bool) *node {
	n := &node{}
	n.answer(http.NotFound)
	n.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.requests.Add(1)
		if r.TLS == nil {
			n.plain.Add(1)
		}
		(*n.handler.Load())(w, r)
	}))
	_ = n.Listener.Close()
	n.Listener = listener
	n.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n.connections.Add(1)
		}
	}
	if withTLS {
		n.StartTLS()
	} else {
		n.Start()
	}
	t.Cleanup(n.Close)
	return n
}

func (n *node) answer(handler http.HandlerFunc) { n.handler.Store(&handler) }

func writes(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// use gives nodes a client without starting the background work, so that only
// the test asks anything.
func use(n *Nodes, client HTTPClient) { n.client.Store(&client) }

// wrapped hides what an HTTP client is, as a user's own type would.
type wrapped struct{ client *http.Client }

func (w wrapped) Do(r *http.Request) (*http.Response, error) { return w.client.Do(r) }

func httpClients() map[string]HTTPClient {
	return map[string]HTTPClient{
		"http.Client": &http.Client{Transport: &http.Transport{}},
		"SDK":         awshttp.NewBuildableClient(),
		"wrapped":     wrapped{&http.Client{Transport: &http.Transport{}}},
	}
}

// TestABadAnswerChangesNothing gives bad answers of every kind between two good
// ones.
func TestABadAnswerChangesNothing(t *testing.T) {
	list := `["127.0.0.1"]`
	filler := strings.Repeat(" ", 2<<20)
	elsewhere := startNode(t, false)
	elsewhere.answer(writes(200, `["6.6.6.6"]`))
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    string // in the error
	}{
		{"HTML", writes(200, "<html></html>"), "not a JSON array"},
		{"null", writes(200, `null`), "it is null"},
		{"object", writes(200, `{}`), "not a JSON array"},
		{"mixed types", writes(200, `["",5]`), "not a JSON array"},
		{"no entries", writes(200, `[]`), "lists no node"},
		{"null entry", writes(200, `[null]`), "it has a null"},
		{"no valid entry", writes(200, `["a:80","","5b2f4f0a-8c3e-4b7a-9d70-0d2a6f1c9e11"]`), "lists no node"},
		{"trailing garbage", writes(200, list+"x"), "not a JSON array"},
		{"empty body", writes(200, ""), "not a JSON array"},
		{"2 MiB", writes(200, `["6.6.6.6"`+filler+`]`), "longer than"},
		{"status 500", writes(500, list), "status 500"},
		{"status 404", writes(404, list), "status 404"},
		{"status 204", writes(204, ""), "status 204"},
		{"endless body", func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write([]byte(filler)); err != nil {
					return
				}
			}
		}, "longer than"},
		{"truncated body", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(list))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "reading the answer"},
		{"cut connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"301 to another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/localnodes", http.StatusMovedPermanently)
		}, "redirected"},
		{"307 to another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/localnodes", http.StatusTemporaryRedirect)
		}, "redirected"},
		{"307 on the same host", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/moved" {
				writes(200, `["6.6.6.6"]`)(w, r)
				return
			}
			http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
		}, "redirected"},
	} {
		for kind, client := range httpClients() {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				server := startNode(t, false)
				n := newNodes(t, NodesConfig{HealthDisabled: true}, server.URL)
				use(n, client)
				server.answer(writes(200, `["127.0.0.1","127.0.0.2"]`))
				if err := n.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				before := n.View()
				server.answer(c.handler)
				requests := elsewhere.requests.Load()
				err := n.Refresh(t.Context())
				// Without leave to follow a redirect, its status is the answer.
				if err == nil || !strings.Contains(err.Error(), c.want) && (c.want != "redirected" || !strings.Contains(err.Error(), "status 30")) {
					t.Errorf("error %v, want %q in it", err, c.want)
				}
				if n.View() != before {
					t.Errorf("the ring is %q", ring(n))
				}
				if followed := elsewhere.requests.Load() - requests; kind == "http.Client" && followed != 0 {
					t.Error("the redirect was followed")
				}
				server.answer(writes(200, list))
				if err := n.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				wantRing(t, n, server.URL)
			})
		}
	}
}

// TestANodeThatHangsIsGivenUp covers answers that never come, or never end.
func TestANodeThatHangsIsGivenUp(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, handler := range map[string]http.HandlerFunc{
		"no answer": hang,
		"half an answer": func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(`["6.6.6.6",`))
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		},
		"an error without end": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := startNode(t, false)
			server.answer(handler)
			n := newNodes(t, NodesConfig{HealthDisabled: true, Timeout: 50 * time.Millisecond}, server.URL)
			use(n, &http.Client{Transport: &http.Transport{}})
			before := n.View()
			if err := n.Refresh(t.Context()); err == nil {
				t.Error("Refresh succeeded")
			}
			if n.View() != before {
				t.Errorf("the ring is %q", ring(n))
			}
		})
	}
}

// TestAClientWithoutAnAnswer covers what an HTTP client of the user's own may
// return by mistake; it must not take the program down.
func TestAClientWithoutAnAnswer(t *testing.T) {
	for name, a := range map[string]answer{
		"nothing": func(*http.Request) (*http.Response, error) { return nil, nil },
		"no body": func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: http.StatusOK}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster()
			c.set(a, "10.0.0.1")
			n := newNodes(t, NodesConfig{HealthDisabled: true}, oneSeed)
			use(n, c)
			if err := n.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "neither an answer nor an error") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestFailedPollsShareAConnection(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"status 500":         writes(500, strings.Repeat("x", 10_000)),
		"status 301":         func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusMovedPermanently) },
		"HTML":               writes(200, "<html>"+strings.Repeat("x", 10_000)),
		"empty list":         writes(200, "[]"),
		"a little over 1 MB": writes(200, strings.Repeat(" ", maxLocalNodesBody+1000)),
	} {
		t.Run(name, func(t *testing.T) {
			server := startNode(t, false)
			server.answer(handler)
			n := newNodes(t, NodesConfig{HealthDisabled: true}, server.URL)
			use(n, &http.Client{Transport: &http.Transport{}})
			for range 10 {
				if err := n.Refresh(t.Context()); err == nil {
					t.Fatal("Refresh succeeded")
				}
			}
			if requests, connections := server.requests.Load(), server.connections.Load(); requests != 10 || connections != 1 {
				t.Errorf("%d requests on %d connections, want 10 on 1", requests, connections)
			}
		})
	}
}

// startCluster starts nodes on 127.0.0.1, 127.0.0.2, ... which all listen on one
// port and list each other.
func startCluster(t *testing.T, count int, withTLS bool) []*node {
	var nodes []*node
	var addresses []string
	for i, l := range listen(t, count) {
		nodes = append(nodes, serve(t, l, withTLS))
		addresses = append(addresses, fmt.Sprintf(`"127.0.0.%d"`, i+1))
	}
	list := "[" + strings.Join(addresses, ",") + "]"
	for _, n := range nodes {
		n.answer(writes(200, list))
	}
	return nodes
}

// TestARealCluster runs everything together, against servers on real sockets.
func TestARealCluster(t *testing.T) {
	for _, withTLS := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %t", withTLS), func(t *testing.T) {
			cluster := startCluster(t, 3, withTLS)
			var urls []string
			for _, node := range cluster {
				urls = append(urls, node.URL)
			}
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			n := newNodes(t, NodesConfig{}, urls[0])
			n.Start(&http.Client{Transport: transport})
			if err := n.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantRing(t, n, slices.Sorted(slices.Values(urls))...)
			for _, s := range n.Statuses() {
				if s.State != Active {
					t.Errorf("%+v, want it active", s)
				}
			}

			var requests sync.WaitGroup
			for range 8 {
				requests.Go(func() {
					for range 200 {
						v := n.View()
						for i := range v.Ring.Len() {
							m := v.Member(i)
							if m.Preference() > PreferDown {
								t.Error("no such preference")
							}
							n.MarkUsed()
							n.Report(m, TrafficSuccess, m.Generation())
						}
					}
				})
			}
			cluster[2].Close()
			for _, node := range cluster[:2] {
				node.answer(writes(200, `["127.0.0.2","127.0.0.1"]`))
			}
			if err := n.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			requests.Wait()
			wantRing(t, n, slices.Sorted(slices.Values(urls[:2]))...)
			if err := n.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			for _, node := range cluster {
				if plain := node.plain.Load(); withTLS && plain != 0 {
					t.Errorf("%d requests without TLS", plain)
				}
			}
		})
	}
}

// TestNoRedirectLeavesTLS checks that an answer that came over http does not
// count for an https cluster, even if the host is the same.
func TestNoRedirectLeavesTLS(t *testing.T) {
	plain := startNode(t, false)
	plain.answer(writes(200, `["6.6.6.6"]`))
	secure := startNode(t, true)
	secure.answer(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL+"/localnodes", http.StatusPermanentRedirect)
	})
	for kind, client := range map[string]HTTPClient{"http.Client": secure.Client(), "wrapped": wrapped{secure.Client()}} {
		n := newNodes(t, NodesConfig{HealthDisabled: true}, secure.URL)
		use(n, client)
		if err := n.Refresh(t.Context()); err == nil {
			t.Errorf("%s: Refresh succeeded", kind)
		}
		wantRing(t, n, secure.URL)
	}
}
