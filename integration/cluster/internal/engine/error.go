package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/smithy-go"
)

// Types of errors that Alternator answers (source: Scylla's alternator/error.hh).
const (
	ConditionalCheckFailed = "ConditionalCheckFailedException"
	InternalServerError    = "InternalServerError"
	PayloadTooLarge        = "PayloadTooLarge"
	ResourceInUse          = "ResourceInUseException"
	ResourceNotFound       = "ResourceNotFoundException"
	UnknownOperation       = "UnknownOperationException"
	Validation             = "ValidationException"
)

// Error is an error as it goes on the wire.
type Error struct {
	Type    string // without the namespace, such as "ValidationException"
	Message string
	Item    attributes // what a failed condition found, if the request asked for it
}

func (e *Error) Error() string { return e.Type + ": " + e.Message }

// Status is the HTTP status of the error: 400 for everything but a server
// error and an oversized request (source: Scylla's alternator/error.hh).
func (e *Error) Status() int {
	switch e.Type {
	case InternalServerError:
		return http.StatusInternalServerError
	case PayloadTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// Body is the JSON body of the error.
func (e *Error) Body() []byte {
	body, err := json.Marshal(struct {
		Type    string            `json:"__type"`
		Message string            `json:"message"`
		Item    map[string]*value `json:"Item,omitempty"`
	}{"com.amazonaws.dynamodb.v20120810#" + e.Type, e.Message, wireItem(e.Item)})
	if err != nil { // only an Item can fail to marshal
		return (&Error{Type: InternalServerError, Message: err.Error()}).Body()
	}
	return body
}

// invalid returns a ValidationException.
func invalid(format string, args ...any) *Error {
	return &Error{Type: Validation, Message: fmt.Sprintf(format, args...)}
}

// wireError turns any error of the engine into an *Error.
func wireError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return &Error{Type: api.ErrorCode(), Message: api.ErrorMessage()}
	}
	return &Error{Type: InternalServerError, Message: err.Error()}
}
