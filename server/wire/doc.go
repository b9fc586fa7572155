// Package wire appends values to JSON answers in the form of the API: times, prices, texts
// that may be null, and the answer to an ingest.
package wire
