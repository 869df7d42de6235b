package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// ClientOptions are options for a DynamoDB client of the cluster that talks to
// node 0, with an HTTP client of its own.
func (c *Cluster) ClientOptions() dynamodb.Options {
	credentials := c.options.Credentials
	return dynamodb.Options{
		BaseEndpoint: aws.String(c.Node(0).URL()),
		Region:       "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return credentials, nil
		}),
		HTTPClient: c.HTTPClient(),
		// Alternator sends no x-amz-crc32 header, which the SDK reads as a
		// checksum of 0 and complains about with every answer.
		DisableValidateResponseChecksum: true,
	}
}

// Client returns a DynamoDB client of the cluster that talks to node 0, with
// an HTTP client of its own.
func (c *Cluster) Client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(c.ClientOptions(), optFns...)
}

// HTTPClient returns a new HTTP client that reaches the nodes and trusts their
// certificates. Its idle connections are closed with the cluster.
func (c *Cluster) HTTPClient() *http.Client {
	t := &http.Transport{
		DialContext:         c.DialContext,
		MaxIdleConns:        1000,
		MaxIdleConnsPerHost: 100,
		IdleConnTimeout:     90 * time.Second,
	}
	if pool := c.CertPool(); pool != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.transports = append(c.transports, t)
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// CertPool holds the authority that the nodes' certificates are signed by; nil
// without TLS.
func (c *Cluster) CertPool() *x509.CertPool {
	if c.authority == nil {
		return nil
	}
	return c.authority.pool()
}
