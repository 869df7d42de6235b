package middleware

import "fmt"

// Mode says which writes are routed by their keys. Everything else is spread
// over the live nodes.
//
// A Mode is a [flag.Value] and reads and writes itself as text, so that a flag,
// JSON, YAML or the environment can set it: "none", "rmw" or "any_write".
type Mode uint8

const (
	// None routes nothing by key: load balancing without affinity. It is the
	// zero value.
	None Mode = iota
	// RMW (read-modify-write) routes single writes by key that read the item
	// before they write it, such as a conditional PutItem. It is for tables
	// whose write isolation is only_rmw_uses_lwt, where these writes run as
	// lightweight transactions and others do not.
	RMW
	// AnyWrite routes every single write by its key and every BatchWriteItem by
	// the vote of its writes. It is for tables whose write isolation is always,
	// and for clients that write one item from several places in order.
	AnyWrite
)

var modeNames = [...]string{None: "none", RMW: "rmw", AnyWrite: "any_write"}

// ParseMode returns the mode with a name: "none", "rmw" or "any_write". The
// error names what it was given.
func ParseMode(name string) (Mode, error) {
	for m, n := range modeNames {
		if n == name {
			return Mode(m), nil
		}
	}
	return None, fmt.Errorf("keyroute: mode %q: must be none, rmw or any_write", name)
}

// valid reports whether the mode is one of the constants.
func (m Mode) valid() bool { return int(m) < len(modeNames) }

// String returns the mode's name.
func (m Mode) String() string {
	if !m.valid() {
		return fmt.Sprintf("Mode(%d)", uint8(m))
	}
	return modeNames[m]
}

// Set makes the mode the one with a name, as [ParseMode] does.
func (m *Mode) Set(name string) error {
	parsed, err := ParseMode(name)
	if err == nil {
		*m = parsed
	}
	return err
}

// MarshalText returns the mode's name, or an error if it is none of the
// constants.
func (m Mode) MarshalText() ([]byte, error) {
	if !m.valid() {
		return nil, fmt.Errorf("keyroute: %v is not a mode", m)
	}
	return []byte(modeNames[m]), nil
}

// UnmarshalText makes the mode the one with a name, as [ParseMode] does.
func (m *Mode) UnmarshalText(name []byte) error { return m.Set(string(name)) }
