package middleware

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/keyroute/keyroute/discovery"
)

func TestOptionsFromJSON(t *testing.T) {
	got := Options{RefreshInterval: 20 * time.Second, NodeTimeout: time.Second}
	err := json.Unmarshal([]byte(`{
		"mode": "any_write",
		"tableModes": {"audit": "none", "locks": "rmw"},
		"seeds": ["http://10.0.0.1:8000", "http://10.0.0.2:8000"],
		"scope": "rack:dc1/r1,datacenter:dc1",
		"partitionKeys": {"orders": "pk"},
		"schemaCacheSize": 64,
		"connectTimeout": "500ms",
		"attemptTimeout": "2s",
		"nodeTimeout": "3s",
		"noResend": true,
		"health": {"probeInterval": "15s", "activeFailures": 5}
	}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := Options{
		Mode:            AnyWrite,
		TableModes:      map[string]Mode{"audit": None, "locks": RMW},
		Seeds:           []string{"http://10.0.0.1:8000", "http://10.0.0.2:8000"},
		Scope:           discovery.Rack("dc1", "r1", discovery.Datacenter("dc1")),
		PartitionKeys:   map[string]string{"orders": "pk"},
		SchemaCacheSize: 64,
		RefreshInterval: 20 * time.Second,
		NodeTimeout:     3 * time.Second,
		Health:          Health{ProbeInterval: 15 * time.Second, ActiveFailures: 5},
		ConnectTimeout:  500 * time.Millisecond,
		AttemptTimeout:  2 * time.Second,
		NoResend:        true,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestOptionsFromJSONNameWhatIsWrong(t *testing.T) {
	for input, want := range map[string]string{
		`{"mode": "all"}`:                        `mode "all": must be none, rmw or any_write`,
		`{"connectTimeout": "fast"}`:             `connectTimeout: time: invalid duration "fast"`,
		`{"health": {"probeInterval": "1 day"}}`: `health: probeInterval: time: unknown unit " day" in duration "1 day"`,
		`{"attemptTimeout": 5}`:                  `attemptTimeout: 5: must be a duration as text`,
		`{"seed": ["http://10.0.0.1:8000"]}`:     `unknown field "seed"`,
		`{"scope": "dc1"}`:                       `scope "dc1": must be cluster, datacenter:NAME or rack:DATACENTER/NAME`,
		`[]`:                                     `cannot unmarshal array`,
		`{"translateAddress": "x"}`:              `unknown field "translateAddress"`,
	} {
		var o Options
		if err := json.Unmarshal([]byte(input), &o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", input, err, want)
		}
	}
}
