package cluster_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/integration/cluster"
)

var user = aws.Credentials{AccessKeyID: "ada", SecretAccessKey: "lovelace"}

// strictCluster starts a cluster that verifies signatures, with a table.
func strictCluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	c := cluster.New(t, func(o *cluster.Options) {
		o.Credentials = user
		o.VerifySignatures = true
	})
	createOrders(t, c.Client(once), false)
	return c
}

// as makes a client sign with credentials.
func as(credentials aws.Credentials) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return credentials, nil
		})
	}
}

// onTheWay is an HTTP client that changes requests that were signed.
type onTheWay struct {
	client *http.Client
	change func(*http.Request)
}

func (w onTheWay) Do(r *http.Request) (*http.Response, error) {
	w.change(r)
	return w.client.Do(r)
}

func changing(c *cluster.Cluster, change func(*http.Request)) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.HTTPClient = onTheWay{c.HTTPClient(), change} }
}

func TestSignaturesOfTheSDKAreValid(t *testing.T) {
	c := strictCluster(t)
	client := c.Client(once)
	for _, n := range c.Nodes() {
		if err := put(t.Context(), client, "a", to(n)); err != nil {
			t.Error(err)
		}
	}
	for name, optFn := range map[string]func(*dynamodb.Options){
		"another region": func(o *dynamodb.Options) { o.Region = "eu-north-1" },
		"a session token": as(aws.Credentials{
			AccessKeyID: user.AccessKeyID, SecretAccessKey: user.SecretAccessKey, SessionToken: "token"}),
		"a header that is not signed": changing(c, func(r *http.Request) { r.Header.Set("User-Agent", "changed") }),
		"a header that was added":     changing(c, func(r *http.Request) { r.Header.Set("X-Proxy", "added") }),
	} {
		if err := put(t.Context(), client, "a", optFn); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSignaturesThatAreWrong(t *testing.T) {
	c := strictCluster(t)
	for name, optFn := range map[string]func(*dynamodb.Options){
		"another secret": as(aws.Credentials{AccessKeyID: user.AccessKeyID, SecretAccessKey: "guess"}),
		"another node": changing(c, func(r *http.Request) {
			r.URL.Host = c.Node(1).HostPort()
			r.Host = c.Node(1).HostPort()
		}),
		"another operation": changing(c, func(r *http.Request) {
			r.Header.Set("X-Amz-Target", "DynamoDB_20120810.DeleteItem")
		}),
		"another body": changing(c, func(r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(bytes.Replace(body, []byte("key-a"), []byte("key-b"), 1)))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			// Each needs a client of its own: a signer remembers what it derived
			// from the secret of an access key.
			err := put(t.Context(), c.Client(once, optFn), "key-a")
			wantAPIError(t, err, "UnrecognizedClientException", "wrong signature", 400)
		})
	}
	stranger := c.Client(once, as(aws.Credentials{AccessKeyID: "bob", SecretAccessKey: "x"}))
	wantAPIError(t, put(t.Context(), stranger, "a"), "UnrecognizedClientException", "bob", 400)
}

func TestSignaturesThatAreMalformed(t *testing.T) {
	c := strictCluster(t)
	client := c.Client(once)
	for _, test := range []struct {
		code, message string
		change        func(http.Header)
	}{
		{"MissingAuthenticationTokenException", "Authorization header is mandatory",
			func(h http.Header) { h.Del("Authorization") }},
		{"InvalidSignatureException", "AWS4-HMAC-SHA256",
			func(h http.Header) { h.Set("Authorization", "Basic YTpi") }},
		{"ValidationException", "Incorrect credential information format: ada",
			func(h http.Header) { h.Set("Authorization", "AWS4-HMAC-SHA256 Credential=ada") }},
		{"InvalidSignatureException", "Host header must be signed",
			func(h http.Header) { h.Set("Authorization", strings.Replace(h.Get("Authorization"), "host;", "", 1)) }},
		{"InvalidSignatureException", "X-Amz-Date header is mandatory",
			func(h http.Header) { h.Del("X-Amz-Date") }},
		{"InvalidSignatureException", "is not of the credential's day",
			func(h http.Header) { h.Set("X-Amz-Date", "20010101T000000Z") }},
	} {
		err := put(t.Context(), client, "a", changing(c, func(r *http.Request) { test.change(r.Header) }))
		wantAPIError(t, err, test.code, test.message, 400)
	}
	equal(t, "item is there", has(t, client, "a"), false)
}

func TestSignaturesExpire(t *testing.T) {
	c := strictCluster(t)
	for age, want := range map[time.Duration]string{
		14 * time.Minute:  "",
		-14 * time.Minute: "",
		16 * time.Minute:  "InvalidSignatureException",
		-16 * time.Minute: "InvalidSignatureException",
	} {
		const body = `{}`
		r, err := http.NewRequest(http.MethodPost, c.Node(0).URL()+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
		hash := sha256.Sum256([]byte(body))
		err = v4.NewSigner().SignHTTP(t.Context(), user, r, hex.EncodeToString(hash[:]), "dynamodb", "any", time.Now().Add(-age))
		if err != nil {
			t.Fatal(err)
		}
		response, err := c.HTTPClient().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && response.StatusCode != 200 || !strings.Contains(string(answer), want) {
			t.Errorf("a request signed %v ago is answered with %d: %s", age, response.StatusCode, answer)
		}
	}
}

func TestUnsignedRequestsAreAcceptedByDefault(t *testing.T) {
	c := cluster.New(t)
	status, answer := post(t, c, "ListTables", `{}`)
	equal(t, "status", status, 200)
	equal(t, "answer", answer, `{"TableNames":[]}`)
}
