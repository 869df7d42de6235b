package middleware

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/keyroute/keyroute/discovery"
)

// What a configuration does not mention, or mentions as null, stays as it is.
func TestOptionsFromJSONLeaveTheRest(t *testing.T) {
	before := func() Options {
		return Options{
			Mode:           RMW,
			TableModes:     map[string]Mode{"audit": None},
			Seeds:          []string{"http://10.0.0.1:8000"},
			Scope:          discovery.Datacenter("dc1"),
			PartitionKeys:  map[string]string{"orders": "pk"},
			ConnectTimeout: time.Second,
			Health:         Health{ProbeInterval: time.Minute, DownRecoveries: 7},
		}
	}
	for input, change := range map[string]func(*Options){
		`{}`:   func(*Options) {},
		`null`: func(*Options) {},
		`{"connectTimeout": null, "health": null, "mode": null, "seeds": null}`: func(o *Options) { o.Seeds = nil },
		`{"health": {}}`: func(*Options) {},
		`{"health": {"probeInterval": null, "activeFailures": 2}}`: func(o *Options) { o.Health.ActiveFailures = 2 },
		`{"Mode": "none", "CONNECTTIMEOUT": "-1ns"}`:               func(o *Options) { o.Mode, o.ConnectTimeout = None, -1 },
		`{"seeds": ["http://10.0.0.2:8000"]}`:                      func(o *Options) { o.Seeds = []string{"http://10.0.0.2:8000"} },
		`{"scope": "cluster"}`:                                     func(o *Options) { o.Scope = discovery.Cluster() },
		`{"tableModes": {"locks": "rmw"}, "partitionKeys": {"users": "id"}}`: func(o *Options) {
			o.TableModes["locks"], o.PartitionKeys["users"] = RMW, "id"
		},
		`{"connectTimeout": 0, "health": {"probeInterval": "5ns"}}`: func(o *Options) { o.ConnectTimeout, o.Health.ProbeInterval = 0, 5 },
	} {
		got, want := before(), before()
		change(&want)
		if err := json.Unmarshal([]byte(input), &got); err != nil {
			t.Errorf("%s: %v", input, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s makes\n%+v, want\n%+v", input, got, want)
		}
	}
}

func TestOptionsFromJSONRefuseWhatDoesNotFit(t *testing.T) {
	for input, want := range map[string]string{
		`{"health": {"probes": 3}}`:             `unknown field "probes"`,
		`{"health": 3}`:                         `health: json: cannot unmarshal number`,
		`{"health": {"activeFailures": "ten"}}`: `activeFailures`,
		`{"tableModes": {"orders": "all"}}`:     `mode "all": must be none, rmw or any_write`,
		`{"tableModes": ["orders"]}`:            `tableModes`,
		`{"mode": 2}`:                           `mode`,
		`{"seeds": "http://10.0.0.1:8000"}`:     `seeds`,
		`{"disabled": "yes"}`:                   `disabled`,
		`{"connectTimeout": 1.5}`:               `connectTimeout`,
		`{"connectTimeout": "5"}`:               `connectTimeout: time: missing unit in duration "5"`,
		`{"logger": {}}`:                        `unknown field "logger"`,
		`"any_write"`:                           `cannot unmarshal string`,
	} {
		var o Options
		err := json.Unmarshal([]byte(input), &o)
		if err == nil || !strings.HasPrefix(err.Error(), "keyroute: options: ") || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("%s: error %v, want one with %q", input, err, want)
		}
	}
}

// What fits and makes no sense is for New to refuse.
func TestOptionsFromJSONAreValidated(t *testing.T) {
	_, err := New(func(o *Options) {
		if err := json.Unmarshal([]byte(`{"nodeTimeout": "-1s", "tableModes": {"": "rmw"}}`), o); err != nil {
			t.Error(err)
		}
	})
	for _, want := range []string{"Options.NodeTimeout: -1s is negative", `Options.TableModes: table "" has the mode rmw`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
