// Package engine is the table store behind the nodes of an embedded Alternator
// cluster: minidyn's in-memory engine, made to answer as Alternator does.
//
// It knows operations and JSON bodies, and nothing of HTTP, nodes or faults:
//
//	e := engine.New(100)
//	answer, err := e.Do("PutItem", []byte(`{"TableName": "orders", "Item": {...}}`))
//
// An error is always an *Error, which says what goes on the wire. An Engine is
// safe for concurrent use.
package engine

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/truora/minidyn/server"
)

// Engine holds the tables of one cluster.
type Engine struct {
	maxBatchWrites int

	// minidyn locks its items, but not its table map: table operations hold
	// mu, item operations share it.
	mu     sync.RWMutex
	store  *server.Client
	tables map[string]*table // guarded by mu
}

// New returns an engine without tables whose BatchWriteItem takes at most
// maxBatchWrites writes.
func New(maxBatchWrites int) *Engine {
	return &Engine{
		maxBatchWrites: maxBatchWrites,
		store:          server.NewClient(),
		tables:         map[string]*table{},
	}
}

// operations are the operations that the engine knows, by name.
var operations = map[string]func(*Engine, []byte) (any, error){
	"CreateTable":    decoded((*Engine).createTable),
	"DescribeTable":  decoded((*Engine).describeTable),
	"UpdateTable":    decoded((*Engine).updateTable),
	"DeleteTable":    decoded((*Engine).deleteTable),
	"ListTables":     decoded((*Engine).listTables),
	"PutItem":        decoded((*Engine).putItem),
	"GetItem":        decoded((*Engine).getItem),
	"UpdateItem":     decoded((*Engine).updateItem),
	"DeleteItem":     decoded((*Engine).deleteItem),
	"Query":          decoded((*Engine).query),
	"Scan":           decoded((*Engine).scan),
	"BatchWriteItem": decoded((*Engine).batchWriteItem),
	"BatchGetItem":   decoded((*Engine).batchGetItem),
}

// Do runs one operation on a JSON body and returns the JSON answer. Its error
// is always an *Error.
func (e *Engine) Do(operation string, body []byte) (answer []byte, err error) {
	run, known := operations[operation]
	if !known {
		return nil, &Error{Type: UnknownOperation, Message: "Unsupported operation " + operation}
	}
	// minidyn dereferences what it did not check; a client must get an answer
	// that says so rather than a connection that closes.
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, &Error{Type: InternalServerError, Message: fmt.Sprint("engine panicked: ", p)}
		}
	}()
	out, err := run(e, body)
	if err != nil {
		return nil, wireError(err)
	}
	answer, err = json.Marshal(out)
	if err != nil {
		return nil, wireError(err)
	}
	return answer, nil
}

// decoded adapts an operation on a typed input to one on a JSON body.
func decoded[In any](run func(*Engine, *In) (any, error)) func(*Engine, []byte) (any, error) {
	return func(e *Engine, body []byte) (any, error) {
		in := new(In)
		if err := json.Unmarshal(body, in); err != nil {
			return nil, invalid("%v", err)
		}
		return run(e, in)
	}
}
