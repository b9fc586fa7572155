// Package event holds the events that the log records: decisions, never requests. Each
// kind has a permanent number, and so has each field. event.proto beside this file
// describes them, so that any protobuf tool can read a log.
//
// An event carries everything that applying it needs. Replay decides nothing, so an event
// names the caps that it charges with their windows, the keys to remember with their
// expiry, and the exact amounts that it gives back.
//
// Slices and strings of an event belong to its creator. A decoded event shares memory with
// the log record, and is valid until the decoder's next call. Apply (package state) copies
// the parts that it keeps.
//
// Adding a field is always allowed. A change of the effect of Apply needs a new version of
// the kind, and the code for the old version stays.
package event
