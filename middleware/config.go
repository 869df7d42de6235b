package middleware

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// UnmarshalJSON reads options from a service's configuration:
//
//	{"mode": "any_write", "seeds": ["http://10.0.0.1:8000"], "connectTimeout": "500ms"}
//
// A duration is text as [time.ParseDuration] reads it, or 0; a mode and a scope
// are text. Fields that are not mentioned stay as they are, so that it can be
// called in an option function after defaults of the service's own. An unknown
// field is an error that names it, as is a value that does not fit.
func (o *Options) UnmarshalJSON(data []byte) error {
	numbers, err := durationsAsNumbers(data, reflect.TypeFor[Options]())
	if err != nil {
		return fmt.Errorf("keyroute: options: %w", err)
	}
	type plain Options // without this method
	decoder := json.NewDecoder(bytes.NewReader(numbers))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode((*plain)(o)); err != nil {
		return fmt.Errorf("keyroute: options: %w", err)
	}
	return nil
}

// durationsAsNumbers rewrites the durations among the fields of a JSON object,
// for a struct type, from text to what encoding/json reads as one.
func durationsAsNumbers(data []byte, t reflect.Type) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	for name, raw := range fields {
		field, ok := t.FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, name) })
		switch {
		case !ok:
		case field.Type == reflect.TypeFor[time.Duration]() && string(raw) != "null":
			d, err := durationOf(raw)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			fields[name] = fmt.Append(nil, int64(d))
		case field.Type == reflect.TypeFor[Health]():
			nested, err := durationsAsNumbers(raw, field.Type)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			fields[name] = nested
		}
	}
	return json.Marshal(fields)
}

// durationOf reads a duration as text, or a 0 that stands for the default.
// Another number is refused: as nanoseconds, which it would be to
// encoding/json, it is never meant.
func durationOf(raw json.RawMessage) (time.Duration, error) {
	if string(raw) == "0" {
		return 0, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return 0, fmt.Errorf("%s: must be a duration as text, such as \"500ms\"", raw)
	}
	return time.ParseDuration(text)
}
