//go:build race

package resolver_test

// raceDetector tells that the race detector is on. It makes sync.Pool forget
// things at random, and what has to be made anew is an allocation.
const raceDetector = true
