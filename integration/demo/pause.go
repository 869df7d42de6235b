package main

import (
	"context"
	"fmt"
	"time"
)

// maxTries is how often a batch is sent in all while the cluster leaves some
// of its writes unprocessed.
const maxTries = 8

// pause waits before a try, counted from 0, for longer each time: not at all
// at first and 50 ms before the second. The error says that the tries or the
// patience of the caller are over.
func pause(ctx context.Context, try int) error {
	switch try {
	case 0:
		return ctx.Err()
	case maxTries:
		return fmt.Errorf("the cluster left writes unprocessed %d times", maxTries)
	}
	return sleep(ctx, 25*time.Millisecond<<try)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
