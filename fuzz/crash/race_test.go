//go:build race

package crash

// raceDetector tells whether the test runs under the race detector. Then so do
// the exchange and the buyers: the detector's own build of every package is at
// hand, and a race under load and recovery is a failure like any other.
const raceDetector = true
