package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/middleware"
)

// BenchmarkCall compares a whole BatchWriteItem of 25 writes through the SDK,
// over loopback to a server that only answers: without the plugin, with it in
// mode None, and with it in mode AnyWrite.
func BenchmarkCall(b *testing.B) {
	b.Run("bare", func(b *testing.B) { benchmarkCall(b, nil) })
	b.Run("none", func(b *testing.B) { benchmarkCall(b, mode(middleware.None)) })
	b.Run("any_write", func(b *testing.B) { benchmarkCall(b, mode(middleware.AnyWrite)) })
}

func benchmarkCall(b *testing.B, plugin func(*middleware.Options)) {
	server := httptest.NewServer(http.HandlerFunc(answerOnly))
	defer server.Close()
	httpClient := awshttp.NewBuildableClient()
	defer httpClient.GetTransport().CloseIdleConnections()
	client := dynamodb.New(dynamodb.Options{
		Region:                          "us-east-1",
		BaseEndpoint:                    aws.String(server.URL),
		Credentials:                     credentials.NewStaticCredentialsProvider("user", "secret", ""),
		HTTPClient:                      httpClient,
		DisableValidateResponseChecksum: true,
	})
	if plugin != nil {
		p, err := middleware.New(plugin, keys("orders", "pk"))
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close(context.Background())
		client = dynamodb.New(client.Options(), p.Attach)
		if err := p.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	in := batch(writes{})
	for i := range 25 {
		in.RequestItems["orders"] = append(in.RequestItems["orders"], put(item{
			"pk":     str(fmt.Sprintf("user-%06d", i)),
			"amount": num("12.50"),
			"note":   str("two of them, please"),
		}))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.BatchWriteItem(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// answerOnly is a node that carries nothing out.
func answerOnly(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if r.URL.Path == "/localnodes" {
		host, _, _ := strings.Cut(r.Host, ":")
		fmt.Fprintf(w, "[%q]", host)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_, _ = io.WriteString(w, `{"UnprocessedItems":{}}`)
}
