package middleware

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/smithy-go/logging"
)

// SlogLogger returns a logger for [Options.Logger], or for a client of the SDK,
// that writes to a structured logger: warnings at its level Warn, everything
// else at Debug.
func SlogLogger(logger *slog.Logger) logging.Logger {
	return logging.LoggerFunc(func(c logging.Classification, format string, args ...any) {
		level := slog.LevelDebug
		if c == logging.Warn {
			level = slog.LevelWarn
		}
		if ctx := context.Background(); logger.Enabled(ctx, level) {
			logger.Log(ctx, level, fmt.Sprintf(format, args...))
		}
	})
}
