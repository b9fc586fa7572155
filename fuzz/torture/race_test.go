//go:build race

package torture

const raceDetector = true
