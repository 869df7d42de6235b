package middleware

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyroute/keyroute/discovery"
)

func TestNewNamesEveryOptionThatIsWrong(t *testing.T) {
	wrong := map[string]struct {
		set  func(*Options)
		want []string
	}{
		"Mode":            {func(o *Options) { o.Mode = 3 }, []string{"Options.Mode: Mode(3) is not a mode"}},
		"TableModes":      {func(o *Options) { o.TableModes = map[string]Mode{"a": 4, "": RMW} }, []string{`Options.TableModes: table "a" has the mode Mode(4)`, `Options.TableModes: table "" has the mode rmw`}},
		"PartitionKeys":   {func(o *Options) { o.PartitionKeys = map[string]string{"a": "", "": "b"} }, []string{`Options.PartitionKeys: table "a" has the key ""`, `Options.PartitionKeys: table "" has the key "b"`}},
		"SchemaCacheSize": {func(o *Options) { o.SchemaCacheSize = -1 }, []string{"Options.SchemaCacheSize: -1 is negative"}},
		"durations": {func(o *Options) {
			o.SchemaTimeout, o.RefreshInterval, o.IdleRefreshInterval = -1, -2, -3
			o.NodeTimeout, o.AttemptTimeout, o.Health.ProbeInterval = -4, -5, -time.Second
		}, []string{
			"Options.SchemaTimeout: -1ns is negative", "Options.RefreshInterval: -2ns is negative",
			"Options.IdleRefreshInterval: -3ns is negative", "Options.NodeTimeout: -4ns is negative",
			"Options.AttemptTimeout: -5ns is negative", "Options.Health.ProbeInterval: -1s is negative",
		}},
		"thresholds": {func(o *Options) {
			o.Health.ActiveFailures, o.Health.DownRecoveries = -1, -2
			o.Health.QuarantinePromotion, o.Health.QuarantineFailures = -3, -4
		}, []string{
			"Options.Health.ActiveFailures: -1 is negative", "Options.Health.DownRecoveries: -2 is negative",
			"Options.Health.QuarantinePromotion: -3 is negative", "Options.Health.QuarantineFailures: -4 is negative",
		}},
		"Scope": {func(o *Options) { o.Scope = discovery.Rack("dc1", "") }, []string{`the rack scope of datacenter "dc1" needs the rack's name`}},
		"Seeds": {func(o *Options) {
			o.Seeds = []string{"http://a:8000", "10.0.0.1:8000", "http://b:8000/x", "https://c:8000", "http://user:secret@d"}
		}, []string{`"10.0.0.1:8000"`, `seed "http://b:8000/x": must be`, "http://a:8000 and https://c:8000 differ in their scheme", `seed "http://user:xxxxx@d": must be`}},
	}

	var all []string
	var set []func(*Options)
	for name, test := range wrong {
		t.Run(name, func(t *testing.T) { checkNewFails(t, test.want, test.set) })
		all = append(all, test.want...)
		set = append(set, test.set)
	}
	t.Run("all at once", func(t *testing.T) { checkNewFails(t, all, set...) })
}

// checkNewFails checks that the error names what is wrong, each on a line of
// its own, in one order, and with nothing that is secret.
func checkNewFails(t *testing.T, want []string, optFns ...func(*Options)) {
	t.Helper()
	p, err := New(optFns...)
	if err == nil || p != nil {
		t.Fatalf("New returned %v, %v, want an error", p, err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Errorf("the error has %d lines, want %d:\n%v", len(lines), len(want), err)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "keyroute: ") {
			t.Errorf("the line %q does not tell where it is from", line)
		}
	}
	for _, text := range want {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, text) }) {
			t.Errorf("%q is missing in the error:\n%v", text, err)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error gives a password away:\n%v", err)
	}
	for range 10 {
		if _, again := New(optFns...); again == nil || again.Error() != err.Error() {
			t.Fatalf("the same options fail with\n%v\nand then with\n%v", err, again)
		}
	}
}

func TestNewTakesWhatIsRight(t *testing.T) {
	for name, set := range map[string]func(*Options){
		"nothing":  func(*Options) {},
		"disabled": func(o *Options) { o.Disabled = true },
		"everything": func(o *Options) {
			o.Mode, o.TableModes = AnyWrite, map[string]Mode{"a": RMW}
			o.Seeds = []string{"http://10.0.0.1:8000", "HTTP://10.0.0.2:8000/", "http://[2001:db8::1]:8000"}
			o.Scope = discovery.Rack("dc1", "r1", discovery.Datacenter("dc1"))
			o.PartitionKeys, o.SchemaCacheSize = map[string]string{"a": "pk"}, 1
			o.SchemaTimeout, o.RefreshInterval, o.IdleRefreshInterval, o.NodeTimeout = 1, 1, 1, 1
			o.Health = Health{Disabled: true, ProbeInterval: 1, ActiveFailures: 1, DownRecoveries: 1, QuarantinePromotion: 1, QuarantineFailures: 1}
			o.ConnectTimeout, o.AttemptTimeout, o.NoResend = 1, 1, true
		},
		"no connect timeout": func(o *Options) { o.ConnectTimeout = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			p, err := New(set)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

func TestOptionFunctionsAreCalledInOrder(t *testing.T) {
	p, err := New(func(o *Options) { o.Mode, o.NodeTimeout = RMW, 7 }, func(o *Options) { o.Mode++ })
	if err != nil {
		t.Fatal(err)
	}
	if p.Mode() != AnyWrite || p.options.NodeTimeout != 7 {
		t.Errorf("mode %v and timeout %v, want %v, 7ns", p.Mode(), p.options.NodeTimeout, AnyWrite)
	}
}

func TestDefaults(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{0: time.Second, 5: 5, -1: -1} {
		if got := (Options{ConnectTimeout: given}).withDefaults().ConnectTimeout; got != want {
			t.Errorf("ConnectTimeout %v becomes %v, want %v", given, got, want)
		}
	}
	// The others are filled in where they are used.
	if got := (Options{}).withDefaults(); got.AttemptTimeout != 0 || got.Mode != None || got.SchemaCacheSize != 0 {
		t.Errorf("the defaults are %+v", got)
	}
}

func TestOptionsAreCloned(t *testing.T) {
	given := Options{
		Seeds:         []string{"http://a"},
		PartitionKeys: map[string]string{"t": "pk"},
		TableModes:    map[string]Mode{"t": RMW},
	}
	p, err := New(func(o *Options) { *o = given })
	if err != nil {
		t.Fatal(err)
	}
	given.Seeds[0], given.PartitionKeys["t"], given.TableModes["t"] = "http://b", "id", None
	if got, want := p.options.Seeds, []string{"http://a"}; !slices.Equal(got, want) {
		t.Errorf("seeds %v, want %v", got, want)
	}
	if got, want := p.options.PartitionKeys, map[string]string{"t": "pk"}; !maps.Equal(got, want) {
		t.Errorf("partition keys %v, want %v", got, want)
	}
	if got, want := p.options.TableModes, map[string]Mode{"t": RMW}; !maps.Equal(got, want) {
		t.Errorf("table modes %v, want %v", got, want)
	}
}
