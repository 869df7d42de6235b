package integration

import (
	"reflect"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/middleware"
)

// TestOptionsFromYAML checks that the fields have the same names in YAML as in
// JSON, with a library that reads struct tags of its own.
func TestOptionsFromYAML(t *testing.T) {
	var got middleware.Options
	err := yaml.Unmarshal([]byte(`
mode: any_write
tableModes: {audit: none}
seeds: ["http://10.0.0.1:8000"]
scope: "datacenter:dc1,cluster"
partitionKeys: {orders: pk}
schemaCacheSize: 64
connectTimeout: 500ms
noResend: true
health: {probeInterval: 15s, activeFailures: 5}
`), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := middleware.Options{
		Mode:            middleware.AnyWrite,
		TableModes:      map[string]middleware.Mode{"audit": middleware.None},
		Seeds:           []string{"http://10.0.0.1:8000"},
		Scope:           discovery.Datacenter("dc1", discovery.Cluster()),
		PartitionKeys:   map[string]string{"orders": "pk"},
		SchemaCacheSize: 64,
		ConnectTimeout:  500 * time.Millisecond,
		NoResend:        true,
		Health:          middleware.Health{ProbeInterval: 15 * time.Second, ActiveFailures: 5},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
