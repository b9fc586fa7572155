// Package scenario reads load test scenarios from small YAML documents: requests and their
// times, buyers, configuration, and limits. It reads and checks; it runs no test.
//
// A document is complete, so the same document is the same test everywhere. An unknown
// member is an error, and every error has its line.
package scenario
