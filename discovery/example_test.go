package discovery_test

import (
	"fmt"

	"github.com/keyroute/keyroute/discovery"
)

// A client in a rack that uses the rest of its datacenter, and then of the
// cluster, when nobody of the rack is left.
func ExampleRack() {
	scope := discovery.Rack("dc1", "r1", discovery.Datacenter("dc1", discovery.Cluster()))
	fmt.Println(scope)
	// Output: rack:dc1/r1,datacenter:dc1,cluster
}

func ExampleParseScope() {
	scope, err := discovery.ParseScope("datacenter:dc1,cluster")
	fmt.Println(scope == discovery.Cluster(), scope, err)
	_, err = discovery.ParseScope("dc1")
	fmt.Println(err)
	// Output:
	// false datacenter:dc1,cluster <nil>
	// keyroute: scope "dc1": must be cluster, datacenter:NAME or rack:DATACENTER/NAME, and fallbacks after commas
}
