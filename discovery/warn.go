package discovery

import (
	"sync"

	"github.com/aws/smithy-go/logging"
)

// maxWarnings bounds how many different causes one warner logs.
const maxWarnings = 20

// A warner logs what a person must act on, each cause once. The zero value logs
// nothing.
type warner struct {
	logger logging.Logger

	mu     sync.Mutex
	warned map[string]bool
}

func newWarner(logger logging.Logger) *warner {
	return &warner{logger: logger, warned: map[string]bool{}}
}

func (w *warner) warn(cause, format string, args ...any) {
	if w.logger == nil {
		return
	}
	w.mu.Lock()
	known := w.warned[cause] || len(w.warned) >= maxWarnings
	if !known {
		w.warned[cause] = true
	}
	w.mu.Unlock()
	if !known {
		w.logger.Logf(logging.Warn, "keyroute: "+format, args...)
	}
}
