package integration

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/middleware"
)

// A node must not be able to have others asked in its place, which would then
// say where requests go.
func TestRedirectsOfTheList(t *testing.T) {
	t.Parallel()
	for _, client := range []struct {
		name string
		new  func() dynamodb.HTTPClient
		// follows says that the client cannot be kept from following some
		// redirects. What the target answers must not count then.
		follows bool
	}{
		{"net/http", func() dynamodb.HTTPClient { return &http.Client{Transport: &http.Transport{}} }, false},
		{"the SDK's", func() dynamodb.HTTPClient { return awshttp.NewBuildableClient() }, true},
		{"wrapped", func() dynamodb.HTTPClient { return wrapped{&http.Client{Transport: &http.Transport{}}} }, true},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(fmt.Sprint(client.name, " ", status), func(t *testing.T) {
				t.Parallel()
				var trapped list[*http.Request]
				trap := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					trapped.add(r)
					_, _ = io.WriteString(w, `["127.0.0.99"]`)
				}))
				t.Cleanup(trap.Close)
				node := httptest.NewServer(redirecting(status, trap.URL+"/localnodes"))
				t.Cleanup(node.Close)

				p, err := middleware.New(seeds(node.URL), mode(middleware.AnyWrite), keys("items", "pk"))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { closePlugin(t, p) })
				options := clientOptions(nil)
				options.HTTPClient = client.new() // its connections end with the servers
				attached := dynamodb.New(options, p.Attach)
				if err := p.Refresh(deadline(t)); err == nil || !strings.Contains(err.Error(), "/localnodes") {
					t.Errorf("Refresh returned %v, want an error that names what was asked", err)
				}
				wantEndpoints(t, p, node.URL)
				d := send(t, attached, batch(writes{"items": {put(item{"pk": str("a")})}}))
				if d.Coordinator != node.URL {
					t.Errorf("sent to %s, want %s", d.Coordinator, node.URL)
				}
				checkTrapped(t, trapped.take(), client.follows)
			})
		}
	}
}

// wrapped is a client of whose redirects the plugin can know nothing.
type wrapped struct{ *http.Client }

func (w wrapped) Do(r *http.Request) (*http.Response, error) { return w.Client.Do(r) }

// redirecting is a node that redirects requests for its list.
func redirecting(status int, to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/localnodes" {
			http.Redirect(w, r, to, status)
			return
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, written)
	})
}

// checkTrapped checks that no request with credentials or data arrived where a
// redirect leads to.
func checkTrapped(t *testing.T, requests []*http.Request, follows bool) {
	t.Helper()
	if len(requests) > 0 && !follows {
		t.Errorf("%d requests followed the redirect, want none", len(requests))
	}
	for _, r := range requests {
		if r.Method != http.MethodGet || r.ContentLength > 0 {
			t.Errorf("%s with %d bytes of data followed the redirect", r.Method, r.ContentLength)
		}
		for name := range r.Header {
			if name == "Authorization" || strings.HasPrefix(name, "X-Amz-") {
				t.Errorf("a request with the header %s followed the redirect", name)
			}
		}
	}
}
