package ddbjson

import (
	"strings"
	"testing"
)

func TestCanonicalNumber(t *testing.T) {
	for spelling, want := range map[string]string{
		"0": "0", "-0.00e9": "0", "000": "0",
		"1": "1e0", "1.0": "1e0", "+1e0": "1e0", "0.1E1": "1e0", "010e-1": "1e0",
		"1000": "1e3", "1e3": "1e3",
		"-12.50": "-125e1", ".5": "5e-1", "5.": "5e0",
		"9.9e125": "99e125", "1e-130": "1e-130",
		strings.Repeat("9", 38):        strings.Repeat("9", 38) + "e37",
		strings.Repeat("9", 38) + "00": strings.Repeat("9", 38) + "e39",
	} {
		if got, err := canonicalNumber(spelling); got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", spelling, got, err, want)
		}
	}
}

func TestCanonicalNumberRefuses(t *testing.T) {
	for spelling, want := range map[string]string{
		"": "not a number", ".": "not a number", "-": "not a number", "e1": "not a number", "1e": "not a number",
		" 1": "not a number", "1 ": "not a number", "0x1": "not a number", "1_0": "not a number",
		"NaN": "not a number", "Infinity": "not a number", "١": "not a number",
		strings.Repeat("9", 39): "38 significant digits",
		"1e126":                 "out of range", "1e-131": "out of range",
		"1e99999999999999999999":     "out of range",
		"10e9223372036854775807":     "out of range",
		"0.01e-9223372036854775808":  "out of range",
		"100000e9223372036854775807": "out of range",
	} {
		if got, err := canonicalNumber(spelling); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v, want an error with %q", spelling, got, err, want)
		}
	}
}
