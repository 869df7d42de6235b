package cluster

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/keyroute/keyroute/integration/cluster/internal/engine"
)

// maxBody is the largest request that Alternator takes (source: Scylla's
// alternator/server.hh).
const maxBody = 16 << 20

// exchange is one request and what becomes of it.
type exchange struct {
	node      *Node
	w         http.ResponseWriter
	r         *http.Request
	body      []byte
	operation string
	dynamoDB  bool     // a DynamoDB operation
	entry     *Request // nil unless recorded
}

// reply is an answer.
type reply struct {
	status      int
	contentType string
	body        []byte
}

func jsonReply(body []byte) reply { return reply{http.StatusOK, "application/x-amz-json-1.0", body} }

func errorReply(e *engine.Error) reply {
	return reply{e.Status(), "application/x-amz-json-1.0", e.Body()}
}

func (a reply) header(w http.ResponseWriter) {
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
}

func (x *exchange) send(a reply) {
	x.answered(a.status) // before the client can know
	a.header(x.w)
	x.w.WriteHeader(a.status)
	_, _ = x.w.Write(a.body)
}

func (x *exchange) answered(status int) {
	if x.entry != nil {
		x.node.cluster.record.answered(x.entry, status)
	}
}

// serve is the node's HTTP handler.
func (n *Node) serve(w http.ResponseWriter, r *http.Request) {
	x := &exchange{node: n, w: w, r: r}
	x.operation, x.dynamoDB = operationOf(r)
	// In this order, so that whoever saw the request in the counters can lift
	// a fault without sparing the request.
	faults := n.faults.Load()
	n.counters.request(x.operation, x.dynamoDB)
	var err error
	x.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	n.note(x)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		x.send(errorReply(&engine.Error{
			Type:    engine.PayloadTooLarge,
			Message: "Request content length limit of " + strconv.Itoa(maxBody) + " bytes exceeded",
		}))
		return
	}
	if err != nil {
		abort() // the client went away
	}
	if hook := n.hook.Load(); hook != nil {
		(*hook)(x.operation, r)
	}
	if faults != nil {
		for _, f := range *faults {
			if f.strikes(x) && f.act(x, f) == done {
				return
			}
		}
	}
	x.send(n.carryOut(x))
}

// operationOf names what a request asks for.
func operationOf(r *http.Request) (name string, dynamoDB bool) {
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/":
		target := r.Header.Get("X-Amz-Target")
		return target[strings.LastIndexByte(target, '.')+1:], true
	case r.Method == http.MethodGet && r.URL.Path == "/localnodes":
		return LocalNodes, false
	}
	return r.Method + " " + r.URL.Path, false
}

// note records the request if requests are recorded.
func (n *Node) note(x *exchange) {
	if !n.cluster.record.active() {
		return
	}
	x.entry = n.cluster.record.add(Request{
		Node:           n.index,
		Method:         x.r.Method,
		Path:           x.r.URL.Path,
		Operation:      x.operation,
		Host:           x.r.Host,
		RawQuery:       x.r.URL.RawQuery,
		Header:         x.r.Header.Clone(),
		Body:           x.body,
		SignatureValid: x.dynamoDB && n.cluster.signature.verify(x.r, x.body) == nil,
	})
}

// carryOut does what a request asks for.
func (n *Node) carryOut(x *exchange) reply {
	switch {
	case x.dynamoDB:
		return n.operate(x)
	case x.operation == LocalNodes:
		return reply{http.StatusOK, "application/json", n.localNodes(x.r.URL.Query())}
	case x.operation == "GET /":
		return reply{http.StatusOK, "text/plain", []byte("healthy: " + x.r.Host)}
	}
	return reply{http.StatusNotFound, "application/json", []byte(`{"message": "Not found", "code": 404}`)}
}

// operate carries out a DynamoDB operation.
func (n *Node) operate(x *exchange) reply {
	if n.cluster.options.VerifySignatures {
		if refusal := n.cluster.signature.verify(x.r, x.body); refusal != nil {
			return errorReply(refusal)
		}
	}
	if x.operation == "DescribeEndpoints" {
		return jsonReply(describeEndpoints(x.r.Host))
	}
	answer, err := n.cluster.engine.Do(x.operation, x.body)
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return errorReply(e)
	}
	return jsonReply(answer)
}

// describeEndpoints names the node that was asked, as Alternator does.
func describeEndpoints(host string) []byte {
	type endpoint struct {
		Address              string
		CachePeriodInMinutes int
	}
	// Strings and numbers always marshal.
	body, _ := json.Marshal(map[string][]endpoint{"Endpoints": {{host, 1440}}})
	return body
}
