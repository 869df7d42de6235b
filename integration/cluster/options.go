package cluster

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Options say what cluster to start. The zero value of each field stands for
// its default.
type Options struct {
	// Nodes is how many nodes start: 3 by default, at most MaxNodes.
	Nodes int
	// Port is the port that all nodes share. By default a free one is found.
	Port int
	// Place says which datacenter and rack node i is in: dc1 and rack1 by
	// default.
	Place func(i int) (dc, rack string)
	// IgnorePlace makes /localnodes ignore its dc and rack parameters and
	// answer the datacenter's full list, as old servers do.
	IgnorePlace bool
	// MaxBatchWrites is how many writes a BatchWriteItem may hold: 100 by
	// default, as on a real server.
	MaxBatchWrites int
	// Credentials are the ones that Client signs with and that signatures are
	// verified against. By default they are those of an imaginary user.
	Credentials aws.Credentials
	// VerifySignatures refuses DynamoDB operations that are not signed with
	// Credentials. Real servers do not verify by default either.
	VerifySignatures bool
	// RecordLimit is how many requests the record holds before it drops the
	// oldest: 100,000 by default.
	RecordLimit int
	// TLS serves https with certificates of an authority of the cluster's own.
	TLS bool
	// TLSNames are host names and addresses that the certificates are for,
	// beside each node's own address.
	TLSNames []string
	// TLSOnlyNames leaves the nodes' own addresses out of the certificates, as
	// in a cluster whose nodes share a certificate for its name. HTTPClient then
	// trusts no node that is dialled by its address.
	TLSOnlyNames bool
	// IPv6 puts the only node of the cluster on ::1.
	IPv6 bool
	// SingleAddress lets every node listen on 127.0.0.1, on a port of its own,
	// while it keeps its name 127.0.0.k and the shared port for everybody who
	// dials through HTTPClient or DialContext. It is on where 127.0.0.1 is the
	// only loopback address there is, such as on macOS.
	SingleAddress bool
}

// MaxNodes is how many nodes a cluster can have, those that joined later
// included.
const MaxNodes = 254

func resolveOptions(optFns []func(*Options)) (Options, error) {
	var o Options
	for _, fn := range optFns {
		fn(&o)
	}
	o.setDefaults()
	return o, o.validate()
}

func (o *Options) setDefaults() {
	if o.Nodes == 0 {
		o.Nodes = 3
		if o.IPv6 {
			o.Nodes = 1
		}
	}
	if o.Place == nil {
		o.Place = func(int) (dc, rack string) { return "dc1", "rack1" }
	}
	if o.MaxBatchWrites == 0 {
		o.MaxBatchWrites = 100
	}
	if o.Credentials == (aws.Credentials{}) {
		o.Credentials = aws.Credentials{AccessKeyID: "alternator", SecretAccessKey: "embedded-cluster"}
	}
	if o.RecordLimit == 0 {
		o.RecordLimit = 100_000
	}
	// Linux and Windows answer on all of 127.0.0.0/8, others on 127.0.0.1.
	if !o.IPv6 && runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		o.SingleAddress = true
	}
}

func (o *Options) validate() error {
	switch {
	case o.Nodes < 0 || o.Nodes > MaxNodes:
		return fmt.Errorf("cluster: %d nodes are not between 1 and %d", o.Nodes, MaxNodes)
	case o.IPv6 && o.Nodes != 1:
		return errors.New("cluster: an IPv6 cluster has one node, because ::1 is the only loopback address")
	case o.Port < 0 || o.Port > 65535:
		return fmt.Errorf("cluster: %d is no port", o.Port)
	case o.MaxBatchWrites < 0:
		return fmt.Errorf("cluster: MaxBatchWrites is %d", o.MaxBatchWrites)
	case o.RecordLimit < 0:
		return fmt.Errorf("cluster: RecordLimit is %d", o.RecordLimit)
	case o.TLSOnlyNames && (!o.TLS || len(o.TLSNames) == 0):
		return errors.New("cluster: TLSOnlyNames needs TLS and TLSNames")
	}
	return nil
}
