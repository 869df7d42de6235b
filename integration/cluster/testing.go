package cluster

import "testing"

// New starts a cluster for a test or benchmark and closes it when that ends.
func New(tb testing.TB, optFns ...func(*Options)) *Cluster {
	tb.Helper()
	c, err := Start(optFns...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}
