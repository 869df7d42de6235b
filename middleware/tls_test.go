package middleware

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// Setting the name changes nothing else, in whatever order options are set, and
// leaves the client that it is given alone.
func TestAServerNameIsAllThatIsSet(t *testing.T) {
	pool := x509.NewCertPool()
	trust := func(tr *http.Transport) { tr.TLSClientConfig.RootCAs = pool }
	plain := awshttp.NewBuildableClient()
	for name, client := range map[string]*awshttp.BuildableClient{
		"roots first": WithServerName(plain.WithTransportOptions(trust), "alternator.example.com"),
		"name first":  WithServerName(plain, "alternator.example.com").WithTransportOptions(trust),
		"name twice":  WithServerName(WithServerName(plain.WithTransportOptions(trust), "first"), "alternator.example.com"),
	} {
		t.Run(name, func(t *testing.T) {
			got := client.GetTransport().TLSClientConfig
			if got.ServerName != "alternator.example.com" || got.RootCAs != pool {
				t.Errorf("the name is %q and the roots are kept: %v", got.ServerName, got.RootCAs == pool)
			}
			if got.InsecureSkipVerify || got.VerifyConnection != nil || got.VerifyPeerCertificate != nil {
				t.Error("certificates are not verified as ever")
			}
			if want := plain.GetTransport().TLSClientConfig.MinVersion; got.MinVersion != want {
				t.Errorf("the lowest version of TLS is %x, want %x", got.MinVersion, want)
			}
		})
	}
	if got := plain.GetTransport().TLSClientConfig; got.ServerName != "" || got.RootCAs != nil {
		t.Errorf("the client that was given has changed: name %q", got.ServerName)
	}
}

// A transport without a configuration of TLS gets one that is safe.
func TestAServerNameForATransportWithoutTLS(t *testing.T) {
	bare := awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) {
		tr.TLSClientConfig, tr.ForceAttemptHTTP2 = nil, false // HTTP/2 would bring one
	})
	got := WithServerName(bare, "alternator.example.com").GetTransport().TLSClientConfig
	if got.ServerName != "alternator.example.com" || got.MinVersion != tls.VersionTLS12 || got.InsecureSkipVerify {
		t.Errorf("name %q, lowest version %x, verification off: %v", got.ServerName, got.MinVersion, got.InsecureSkipVerify)
	}
}
