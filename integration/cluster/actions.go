package cluster

import (
	"net/http"
	"strconv"

	"github.com/keyroute/keyroute/integration/cluster/internal/engine"
)

// verdict says whether a request goes on after a fault struck it.
type verdict bool

const (
	proceed verdict = false
	done    verdict = true
)

// abort ends a request at once, and closes its connection. It does not return.
func abort() verdict { panic(http.ErrAbortHandler) }

// wait waits for a delay to end.
func wait[T any](x *exchange, f *injected, delay <-chan T) verdict {
	select {
	case <-delay:
	case <-f.healed:
	case <-x.r.Context().Done():
		return abort()
	}
	return proceed
}

func hang(x *exchange, f *injected) verdict {
	select {
	case <-f.healed:
	case <-x.r.Context().Done():
	}
	return abort()
}

func closeAfterRequest(*exchange, *injected) verdict {
	return abort()
}

func resetAfterRequest(x *exchange, _ *injected) verdict {
	return x.reset()
}

// resetMidResponse announces the whole answer, so that the half that arrives
// cannot be taken for all of it.
func resetMidResponse(x *exchange, _ *injected) verdict {
	answer := x.node.carryOut(x)
	x.answered(answer.status)
	answer.header(x.w)
	x.w.WriteHeader(answer.status)
	_, _ = x.w.Write(answer.body[:len(answer.body)/2])
	http.NewResponseController(x.w).Flush()
	return x.reset()
}

func answerError(status int, errorType, message string) func(*exchange, *injected) verdict {
	answer := errorReply(&engine.Error{Type: errorType, Message: message})
	answer.status = status
	return func(x *exchange, _ *injected) verdict {
		x.send(answer)
		if errorType == "RequestLimitExceeded" {
			http.NewResponseController(x.w).Flush()
			return abort()
		}
		return done
	}
}

// endlessList sends the node's own address again and again.
func endlessList(x *exchange, f *injected) verdict {
	// A client that does not read makes a write wait; closing the connection
	// ends that.
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-f.healed:
			socketOf(x.r).Close()
		case <-stop:
		}
	}()
	defer func() {
		close(stop)
		<-stopped
	}()
	x.answered(http.StatusOK)
	x.w.Header().Set("Content-Type", "application/json")
	entry := []byte(strconv.Quote(x.node.host) + ",")
	_, err := x.w.Write([]byte("["))
	for err == nil {
		_, err = x.w.Write(entry)
	}
	return abort()
}

// reset closes the connection of the request in such a way that the client is
// told of a reset.
func (x *exchange) reset() verdict {
	socket := socketOf(x.r)
	_ = socket.SetLinger(0)
	socket.Close()
	return abort()
}
