// Package histogram counts latencies in slots of about a thirtieth of their size. A
// histogram is stored as a blob in the report's file, and SQLite functions add up blobs.
package histogram
