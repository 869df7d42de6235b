package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/middleware"
)

// BenchmarkCall compares a whole BatchWriteItem of 25 writes through the SDK,
// over loopback to a server that only answers: without the plugin, with it in
// mode None, and with it in mode AnyWrite; the latter also for a cluster of
// three nodes, where an attempt has a bound on connecting.
func BenchmarkCall(b *testing.B) {
	b.Run("bare", func(b *testing.B) { benchmarkCall(b, 1, nil) })
	b.Run("none", func(b *testing.B) { benchmarkCall(b, 1, mode(middleware.None)) })
	b.Run("any_write", func(b *testing.B) { benchmarkCall(b, 1, mode(middleware.AnyWrite)) })
	b.Run("any_write_on_3_nodes", func(b *testing.B) { benchmarkCall(b, 3, mode(middleware.AnyWrite)) })
}

func benchmarkCall(b *testing.B, nodes int, plugin func(*middleware.Options)) {
	endpoint := serveAnswers(b, nodes)
	httpClient := awshttp.NewBuildableClient()
	defer httpClient.GetTransport().CloseIdleConnections()
	client := dynamodb.New(dynamodb.Options{
		Region:                          "us-east-1",
		BaseEndpoint:                    aws.String(endpoint),
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

// serveAnswers runs a server that carries nothing out, on a number of addresses
// and one port, and returns its first endpoint.
func serveAnswers(b *testing.B, nodes int) string {
	var addresses []string
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/localnodes" {
			_ = json.NewEncoder(w).Encode(addresses)
			return
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, `{"UnprocessedItems":{}}`)
	})}
	b.Cleanup(func() { _ = server.Close() })
	port := "0"
	for i := range nodes {
		addresses = append(addresses, fmt.Sprintf("127.0.0.%d", i+1))
		l, err := net.Listen("tcp", net.JoinHostPort(addresses[i], port))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = l.Close() })
		_, port, _ = net.SplitHostPort(l.Addr().String())
		defer func() { go func() { _ = server.Serve(l) }() }()
	}
	return "http://" + net.JoinHostPort(addresses[0], port)
}
