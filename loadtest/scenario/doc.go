// Package scenario has what a load test does, as a small YAML document: which
// requests come and when, who buys, what is configured, and the limits that have
// to be held. It reads and checks; it runs nothing.
//
// A document says everything, so the same one is the same test everywhere. An
// unknown member is an error, and every error has its line.
package scenario
