//go:build !race

package refbuyer

const raceDetector = false
