package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/keyroute/keyroute/resolver"
)

// HTTPClient sends the requests of discovery. It is what the SDK calls an HTTP
// client, so that an attached client's own can be used, with its TLS and proxy
// settings.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

const (
	// maxLocalNodesBody is the longest answer that is read. A thousand IPv6
	// addresses take 42 KB.
	maxLocalNodesBody = 1 << 20

	// maxDrain is how much of an answer that is not wanted is read so that its
	// connection can be used again.
	maxDrain = 64 << 10
)

// fetchLocalNodes asks one node for the addresses of the live nodes in its own
// datacenter, or in the one that the encoded query names.
func fetchLocalNodes(ctx context.Context, client HTTPClient, node *resolver.Node, query string) ([]string, error) {
	target := url.URL{Scheme: node.Scheme(), Host: node.Host(), Path: "/localnodes", RawQuery: query}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := withoutRedirects(client).Do(request)
	if err != nil {
		return nil, err
	}
	if response == nil || response.Body == nil {
		return nil, fmt.Errorf("%s: the HTTP client returned neither an answer nor an error", target.Redacted())
	}
	defer func() {
		_, _ = io.CopyN(io.Discard, response.Body, maxDrain)
		_ = response.Body.Close()
	}()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered with status %d", target.Redacted(), response.StatusCode)
	}
	if r := response.Request; r != nil && r.Response != nil {
		return nil, fmt.Errorf("%s was redirected to %s", target.Redacted(), r.URL.Redacted())
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxLocalNodesBody+1))
	if err != nil {
		return nil, fmt.Errorf("%s: reading the answer: %w", target.Redacted(), err)
	}
	addresses, err := parseLocalNodes(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", target.Redacted(), err)
	}
	return addresses, nil
}

// withoutRedirects returns the client with redirects switched off where that
// can be done: net/http's own client follows them for GET. The SDK's buildable
// client follows only 307 and 308; an answer to a redirect that was followed in
// spite of this is refused.
func withoutRedirects(client HTTPClient) HTTPClient {
	plain, ok := client.(*http.Client)
	if !ok {
		return client
	}
	unredirected := *plain
	unredirected.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &unredirected
}

// parseLocalNodes reads an answer of /localnodes: a JSON array of strings. What
// the strings are is for [checkAddress] to say.
func parseLocalNodes(body []byte) ([]string, error) {
	if len(body) > maxLocalNodesBody {
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxLocalNodesBody)
	}
	var entries []*string
	if err := json.Unmarshal(body, &entries); err != nil {
		return nil, fmt.Errorf("the answer is not a JSON array of strings: %w", err)
	}
	if entries == nil {
		return nil, errors.New("the answer is not a JSON array of strings: it is null")
	}
	addresses := make([]string, 0, len(entries))
	for _, e := range entries {
		if e == nil {
			return nil, errors.New("the answer is not a JSON array of strings: it has a null")
		}
		addresses = append(addresses, *e)
	}
	return addresses, nil
}

// hostName is a host name by RFC 1123, section 2.1, and with the underscore
// that container networks use. hostID is what Scylla lists in place of an
// address while gossip does not know it yet: the node's UUID, which would pass
// for a host name.
var (
	hostName = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.?$`)
	numeric  = regexp.MustCompile(`(^|\.)[0-9]+\.?$`)
	zone     = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)
	hostID   = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// checkAddress refuses an entry of /localnodes that is neither an IP address
// nor a host name.
func checkAddress(entry string) error {
	if addr, err := netip.ParseAddr(entry); err == nil {
		if addr.Zone() != "" && !zone.MatchString(addr.Zone()) {
			return errors.New("its zone is not the name of a network interface")
		}
		return nil
	}
	switch {
	case hostID.MatchString(entry):
		return errors.New("it is a host ID, the node's address is not known yet")
	case len(entry) > 253 || !hostName.MatchString(entry):
		return errors.New("it is neither an IP address nor a host name")
	case numeric.MatchString(entry):
		return errors.New("it is neither an IP address nor a host name: a host name does not end in a number")
	}
	return nil
}

// nodeAt makes the node at an address, "host", "host:port" or an IPv6 address
// without brackets, with a scheme and, unless the address has one itself, a
// port.
func nodeAt(scheme, address, port string) (*resolver.Node, error) {
	host := address
	if h, p, err := net.SplitHostPort(address); err == nil {
		if _, err := strconv.ParseUint(p, 10, 16); err != nil {
			return nil, errors.New("its port is not a number from 1 to 65535")
		}
		host, port = h, p
	}
	if err := checkAddress(host); err != nil {
		return nil, err
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		host = "[" + strings.ReplaceAll(host, "%", "%25") + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return resolver.ParseNode(scheme + "://" + host)
}
