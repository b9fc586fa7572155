// Package alert has the rules of alerts: their kinds, the settings that operators change, the
// evaluation with its delays and thresholds, and the table of alerts that fire.
//
// The package reads no clock and measures no value. Its caller passes the time and the measured
// values, so a test runs weeks in milliseconds. DESIGN.md has the reasons.
package alert
