//go:build !race

package resolver_test

const raceDetector = false
