package middleware

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/aws/smithy-go/logging"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/resolver"
)

// Options configure a [Plugin]. The zero value of each field is its default.
type Options struct {
	// Mode says which writes are routed by key. Default None. It can be changed
	// while requests flow, with [Plugin.SetMode].
	Mode Mode `json:"mode" yaml:"mode"`

	// TableModes are the modes of tables that do not follow Mode, by table name,
	// since write isolation is a property of a table: the writes of a batch to a
	// table that is not in AnyWrite have no vote.
	TableModes map[string]Mode `json:"tableModes" yaml:"tableModes"`

	// Disabled switches the plugin off: attaching it changes nothing, nothing
	// is polled and no goroutine runs.
	Disabled bool `json:"disabled" yaml:"disabled"`

	// Seeds are the nodes to start from, "scheme://host[:port]" each, with the
	// scheme and the port that all nodes of the cluster have. Default: the
	// BaseEndpoint of the client that the plugin is attached to.
	Seeds []string `json:"seeds" yaml:"seeds"`

	// Scope says which nodes take requests. Default: the whole cluster. For a
	// misspelt name see [Plugin.CheckScope].
	Scope discovery.Scope `json:"scope" yaml:"scope"`

	// TranslateAddress, if set, maps an address as the cluster advertises it
	// (an IP address or host name) to one that this client can reach, "host" or
	// "host:port". An empty result leaves the node out. It must be safe for
	// concurrent use.
	TranslateAddress func(address string) string `json:"-" yaml:"-"`

	// PartitionKeys are the partition-key attributes of tables that are not to
	// be looked up, by table name. Other tables are described in the background
	// when they are first written to.
	PartitionKeys map[string]string `json:"partitionKeys" yaml:"partitionKeys"`

	// SchemaCacheSize is how many looked-up tables are remembered. Default
	// 1,024.
	SchemaCacheSize int `json:"schemaCacheSize" yaml:"schemaCacheSize"`

	// SchemaTimeout is how long one DescribeTable in the background may take,
	// with its retries. Default 10 s.
	SchemaTimeout time.Duration `json:"schemaTimeout" yaml:"schemaTimeout"`

	// RefreshInterval is the time between two refreshes of the list of live
	// nodes while requests flow. Default 10 s.
	RefreshInterval time.Duration `json:"refreshInterval" yaml:"refreshInterval"`

	// IdleRefreshInterval is the same while none flow. Default 1 min.
	IdleRefreshInterval time.Duration `json:"idleRefreshInterval" yaml:"idleRefreshInterval"`

	// NodeTimeout is how long a node may take to answer a refresh or a probe.
	// Default 5 s.
	NodeTimeout time.Duration `json:"nodeTimeout" yaml:"nodeTimeout"`

	// Health configures how nodes that give no answer are treated.
	Health Health `json:"health" yaml:"health"`

	// ConnectTimeout bounds the time from the first packet to a usable
	// connection with a node, while another coordinator is untried; the look-up
	// of a node's name comes before it. Of a call with a deadline it is at most
	// half of the time that is left, so that another coordinator has the rest.
	// Default 1 s. A negative value leaves it to the HTTP client.
	ConnectTimeout time.Duration `json:"connectTimeout" yaml:"connectTimeout"`

	// AttemptTimeout is how long a node may take to answer before the SDK's next
	// attempt goes to the next coordinator. Default 0: as long as the HTTP
	// client and the call's context allow. The node may have carried out a
	// write that it did not answer for; see NoResend. Without it a node that
	// hangs keeps its keys for as long as calls end with their contexts, which
	// blames no node, so set it in production. The wait for one of the HTTP
	// client's own connections is bounded in the same way, but is not the
	// node's: it has the whole time from its turn on.
	AttemptTimeout time.Duration `json:"attemptTimeout" yaml:"attemptTimeout"`

	// NoResend keeps a request that may have been sent, and was not answered,
	// from being sent again by the SDK's retries, for writes that must not be
	// carried out twice. The call then fails with the error of the one attempt.
	// By default the client's Retryer decides, as it does without the plugin.
	// A Retryer that is given to a single call has to heed errors that say
	// whether they can be retried, as those of the SDK do.
	NoResend bool `json:"noResend" yaml:"noResend"`

	// Logger is told what a person must act on. Default: the logger of the
	// client that the plugin is attached to, which is silent by default, too.
	Logger logging.Logger `json:"-" yaml:"-"`
}

// Health configures how nodes that give no answer are treated. The zero value
// of each field is its default.
type Health struct {
	// Disabled leaves health out of account: every request tries the nodes in
	// the order of its plan, and nothing is probed.
	Disabled bool `json:"disabled" yaml:"disabled"`

	// ProbeInterval is how often a node that is down or quarantined is asked
	// whether it answers. Default 30 s.
	ProbeInterval time.Duration `json:"probeInterval" yaml:"probeInterval"`

	// ActiveFailures is how many requests in a row without an answer take an
	// active node down. Default 10.
	ActiveFailures int `json:"activeFailures" yaml:"activeFailures"`

	// DownRecoveries is how many good probes in a row bring a node that is down
	// to quarantine. Default 3.
	DownRecoveries int `json:"downRecoveries" yaml:"downRecoveries"`

	// QuarantinePromotion is how many answers in a row make a quarantined node
	// active; one good probe does so, too. Default 10.
	QuarantinePromotion int `json:"quarantinePromotion" yaml:"quarantinePromotion"`

	// QuarantineFailures is how many requests in a row without an answer take a
	// quarantined node down. Default 3.
	QuarantineFailures int `json:"quarantineFailures" yaml:"quarantineFailures"`
}

const defaultConnectTimeout = time.Second

// withDefaults fills in the defaults that are the plugin's own. Those of
// discovery are filled in there.
func (o Options) withDefaults() Options {
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = defaultConnectTimeout
	}
	return o
}

// clone returns options that share nothing with the caller's.
func (o Options) clone() Options {
	o.Seeds = slices.Clone(o.Seeds)
	o.PartitionKeys = maps.Clone(o.PartitionKeys)
	o.TableModes = maps.Clone(o.TableModes)
	return o
}

// validate returns an error for every field that is wrong but the seeds, always
// in the same order.
func (o *Options) validate() (failures []error) {
	wrong := func(format string, args ...any) {
		failures = append(failures, fmt.Errorf("keyroute: Options."+format, args...))
	}
	if !o.Mode.valid() {
		wrong("Mode: %v is not a mode", o.Mode)
	}
	for _, table := range slices.Sorted(maps.Keys(o.TableModes)) {
		if mode := o.TableModes[table]; table == "" || !mode.valid() {
			wrong("TableModes: table %q has the mode %v: a table needs a name and a mode that exists", table, mode)
		}
		if name := resolver.TableName(table); name != table {
			wrong("TableModes: table %q: must be its name, %q", table, name)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(o.PartitionKeys)) {
		if key := o.PartitionKeys[table]; table == "" || key == "" {
			wrong("PartitionKeys: table %q has the key %q: neither may be empty", table, key)
		}
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"SchemaTimeout", o.SchemaTimeout},
		{"RefreshInterval", o.RefreshInterval},
		{"IdleRefreshInterval", o.IdleRefreshInterval},
		{"NodeTimeout", o.NodeTimeout},
		{"AttemptTimeout", o.AttemptTimeout},
		{"Health.ProbeInterval", o.Health.ProbeInterval},
	} {
		if d.value < 0 {
			wrong("%s: %v is negative", d.field, d.value)
		}
	}
	for _, n := range []struct {
		field string
		value int
	}{
		{"SchemaCacheSize", o.SchemaCacheSize},
		{"Health.ActiveFailures", o.Health.ActiveFailures},
		{"Health.DownRecoveries", o.Health.DownRecoveries},
		{"Health.QuarantinePromotion", o.Health.QuarantinePromotion},
		{"Health.QuarantineFailures", o.Health.QuarantineFailures},
	} {
		if n.value < 0 {
			wrong("%s: %d is negative", n.field, n.value)
		}
	}
	if err := o.Scope.Validate(); err != nil {
		failures = append(failures, err)
	}
	return failures
}

// parseSeeds makes the nodes of seeds. A seed is configuration, so what the
// canonical form would drop is refused. The error names every seed that is
// wrong.
func parseSeeds(seeds []string) ([]*resolver.Node, error) {
	nodes := make([]*resolver.Node, 0, len(seeds))
	var failures []error
	for _, seed := range seeds {
		node, err := parseSeed(seed)
		switch {
		case err != nil:
			failures = append(failures, err)
		case len(nodes) > 0 && nodes[0].Scheme() != node.Scheme():
			failures = append(failures, fmt.Errorf("keyroute: the seeds %s and %s differ in their scheme", nodes[0], node))
		default:
			nodes = append(nodes, node)
		}
	}
	return nodes, errors.Join(failures...)
}

func parseSeed(seed string) (*resolver.Node, error) {
	node, err := resolver.ParseNode(seed)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(seed)
	if err != nil {
		return nil, err
	}
	if u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("keyroute: seed %q: must be scheme://host[:port] and nothing else", u.Redacted())
	}
	return node, nil
}

// nodesConfig is the part of the options that the list of nodes needs.
func (o *Options) nodesConfig(seeds []*resolver.Node, logger logging.Logger) discovery.NodesConfig {
	return discovery.NodesConfig{
		Seeds:               seeds,
		Scope:               o.Scope,
		TranslateAddress:    o.TranslateAddress,
		RefreshInterval:     o.RefreshInterval,
		IdleRefreshInterval: o.IdleRefreshInterval,
		Timeout:             o.NodeTimeout,
		ProbeInterval:       o.Health.ProbeInterval,
		Health: discovery.Thresholds{
			ActiveFailures:      o.Health.ActiveFailures,
			DownRecoveries:      o.Health.DownRecoveries,
			QuarantinePromotion: o.Health.QuarantinePromotion,
			QuarantineFailures:  o.Health.QuarantineFailures,
		},
		HealthDisabled: o.Health.Disabled,
		Logger:         logger,
	}
}
