//go:build race

package crash

// raceDetector reports whether the test has the race detector. The exchange and the buyers then
// have it too: the compiled packages exist already, and a race is a failure.
const raceDetector = true
