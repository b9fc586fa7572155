// Package histogram counts latencies in slots, which are ranges of latency. A latency that is
// read from a slot is wrong by at most a thirtieth. A histogram is stored as a blob in the
// report's file, and SQLite functions add up blobs.
package histogram
