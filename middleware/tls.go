package middleware

import (
	"crypto/tls"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// WithServerName returns a copy of the SDK's HTTP client that expects a name in
// the certificates of all nodes. It is for a cluster whose nodes are dialled by
// address, as /localnodes lists them, while their certificates carry the
// cluster's name. Certificates are verified as ever, against that name:
//
//	httpClient := middleware.WithServerName(awshttp.NewBuildableClient(), "alternator.example.com")
//	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.HTTPClient = httpClient }, plugin.Attach)
//
// Roots that the system does not know are set with WithTransportOptions of the
// client, before or after.
func WithServerName(client *awshttp.BuildableClient, name string) *awshttp.BuildableClient {
	return client.WithTransportOptions(func(t *http.Transport) {
		if t.TLSClientConfig == nil {
			t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		t.TLSClientConfig.ServerName = name
	})
}
