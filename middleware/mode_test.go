package middleware

import (
	"encoding/json"
	"flag"
	"io"
	"testing"
)

func TestModesAndTheirNames(t *testing.T) {
	for name, mode := range map[string]Mode{"none": None, "rmw": RMW, "any_write": AnyWrite} {
		t.Run(name, func(t *testing.T) {
			if got := mode.String(); got != name {
				t.Errorf("String: %q, want %q", got, name)
			}
			if got, err := ParseMode(name); got != mode || err != nil {
				t.Errorf("ParseMode: %v, %v, want %v", got, err, mode)
			}
			if got, err := mode.MarshalText(); string(got) != name || err != nil {
				t.Errorf("MarshalText: %q, %v, want %q", got, err, name)
			}
			set := AnyWrite - mode // another one, but for rmw
			if err := set.Set(name); set != mode || err != nil {
				t.Errorf("Set: %v, %v, want %v", set, err, mode)
			}
			read := AnyWrite - mode
			if err := read.UnmarshalText([]byte(name)); read != mode || err != nil {
				t.Errorf("UnmarshalText: %v, %v, want %v", read, err, mode)
			}
		})
	}
	var zero Mode
	if zero != None {
		t.Errorf("the zero value is %v, want %v", zero, None)
	}
}

func TestWhatIsNoModeIsRefused(t *testing.T) {
	for _, name := range []string{"", "None", "ANY_WRITE", "any-write", "any_write ", "2", "Mode(3)"} {
		want := `keyroute: mode "` + name + `": must be none, rmw or any_write`
		if _, err := ParseMode(name); err == nil || err.Error() != want {
			t.Errorf("ParseMode(%q): %v, want %q", name, err, want)
		}
		mode := RMW
		if err := mode.Set(name); err == nil || mode != RMW {
			t.Errorf("Set(%q): %v and the mode %v, want an error and what it was", name, err, mode)
		}
		if err := mode.UnmarshalText([]byte(name)); err == nil || mode != RMW {
			t.Errorf("UnmarshalText(%q): %v and the mode %v, want an error and what it was", name, err, mode)
		}
	}
	none := Mode(3)
	if got, want := none.String(), "Mode(3)"; got != want {
		t.Errorf("String: %q, want %q", got, want)
	}
	if _, err := none.MarshalText(); err == nil || err.Error() != "keyroute: Mode(3) is not a mode" {
		t.Errorf("MarshalText: %v, want an error that names the mode", err)
	}
}

func TestAModeIsAFlag(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		want      Mode
		err       string
	}{
		{nil, RMW, ""},
		{[]string{"-mode", "any_write"}, AnyWrite, ""},
		{[]string{"-mode=none"}, None, ""},
		{[]string{"-mode", "all"}, RMW, `invalid value "all" for flag -mode: keyroute: mode "all": must be none, rmw or any_write`},
	} {
		set := flag.NewFlagSet("test", flag.ContinueOnError)
		set.SetOutput(io.Discard)
		mode := RMW
		set.Var(&mode, "mode", "the mode")
		message := ""
		if err := set.Parse(test.arguments); err != nil {
			message = err.Error()
		}
		if mode != test.want || message != test.err {
			t.Errorf("%q: mode %v, error %q, want %v, %q", test.arguments, mode, message, test.want, test.err)
		}
		if got := set.Lookup("mode").DefValue; got != "rmw" {
			t.Errorf("the default is shown as %q, want rmw", got)
		}
	}
}

func TestAModeIsText(t *testing.T) {
	type config struct {
		Mode   Mode
		Tables map[string]Mode
	}
	text := `{"Mode":"any_write","Tables":{"audit":"none","locks":"rmw"}}`
	var got config
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Mode != AnyWrite || got.Tables["locks"] != RMW || got.Tables["audit"] != None || len(got.Tables) != 2 {
		t.Errorf("read %+v", got)
	}
	if again, err := json.Marshal(got); string(again) != text || err != nil {
		t.Errorf("written %s, %v, want %s", again, err, text)
	}
	for _, text := range []string{`{"Mode":"all"}`, `{"Mode":2}`, `{"Tables":{"x":"y"}}`} {
		if err := json.Unmarshal([]byte(text), new(config)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
	if _, err := json.Marshal(config{Mode: 3}); err == nil {
		t.Error("what is no mode was written")
	}
}
