package ddbjson

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// What a number may be at most (source: DynamoDB's data types).
const (
	maxDigits   = 38
	minExponent = -130 // of the first digit
	maxExponent = 125
)

var (
	errDigits = fmt.Errorf("has more than %d significant digits", maxDigits)
	errRange  = fmt.Errorf("is out of range: its magnitude must be from 1E%d to less than 1E%d", minExponent, maxExponent+1)
)

var numberForm = regexp.MustCompile(`^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$`)

// canonicalNumber returns the one form that all spellings of a number have in
// common: its sign, its digits and the exponent of the first one. The error
// reads on after the name of the type.
func canonicalNumber(spelling string) (string, error) {
	parts := numberForm.FindStringSubmatch(spelling)
	if parts == nil || parts[2] == "" && parts[3] == "" {
		return "", fmt.Errorf("is not a number: %q", spelling)
	}
	sign, whole, fraction := parts[1], parts[2], parts[3]
	digits := strings.TrimLeft(whole+fraction, "0")
	leading := len(whole) + len(fraction) - len(digits)
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return "0", nil
	}
	exponent := 0
	if parts[4] != "" {
		var err error
		if exponent, err = strconv.Atoi(parts[4]); errors.Is(err, strconv.ErrRange) {
			return "", errRange
		}
	}
	exponent += len(whole) - leading - 1
	switch {
	case len(digits) > maxDigits:
		return "", errDigits
	case exponent < minExponent || exponent > maxExponent:
		return "", errRange
	case sign == "+":
		sign = ""
	}
	return fmt.Sprintf("%s%se%d", sign, digits, exponent), nil
}

// canonicalOf is canonicalNumber for a number that was checked.
func canonicalOf(spelling string) string {
	canonical, _ := canonicalNumber(spelling)
	return canonical
}
