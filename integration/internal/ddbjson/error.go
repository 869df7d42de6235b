package ddbjson

import (
	"fmt"
	"regexp"
	"strconv"
)

// An Error tells which field is wrong and why.
type Error struct {
	// Path leads to the field, such as "PutRequest.Item.lines[2].sku"; "" is
	// the whole of the input. The letters of types are not part of it.
	Path string
	// Reason says what is wrong.
	Reason string
}

// Error returns the path, if there is one, and the reason.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// path leads from the whole of the input to a field.
type path string

var plainName = regexp.MustCompile(`^[\pL\pN_-]+$`)

// field returns the path of a member. Names that could be mistaken for several
// steps are quoted.
func (p path) field(name string) path {
	switch {
	case !plainName.MatchString(name):
		return p + "[" + path(strconv.Quote(name)) + "]"
	case p == "":
		return path(name)
	}
	return p + "." + path(name)
}

func (p path) index(i int) path {
	return p + "[" + path(strconv.Itoa(i)) + "]"
}

func (p path) errorf(format string, args ...any) error {
	return &Error{Path: string(p), Reason: fmt.Sprintf(format, args...)}
}
