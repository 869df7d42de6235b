// Package integration tests keyroute as its users meet it: through the real SDK
// and over HTTP, on the embedded cluster of the package cluster or, where no
// faults have to be made, on a real one.
package integration
