package report

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/wal"
)

// LogAndConfiguredNames gives the report access to the exchange's log and to its configured names.
type LogAndConfiguredNames interface {
	// LogIdentity identifies the log.
	LogIdentity() LogIdentity
	// NewReader returns a reader from an entry on, or from the oldest one for 0. At the log's current
	// end the reader's Next returns io.EOF and can be called again. The error is wal.ErrGone if history
	// no longer has the entry.
	NewReader(from uint64) (LogReader, error)
	// LastEntry returns the sequence number and the time of the last entry. A crash of a cluster's node may
	// remove it from the log of that node: see wal.Log.LastEntry.
	LastEntry() (seq uint64, at int64)
	// NameOf returns the configured name of a number, or "" if it is unknown.
	NameOf(kind event.ConfigObjectKind, ref market.PermanentNumber) string
	// RefOf returns the number of a name, or zero if it was never configured.
	RefOf(kind event.ConfigObjectKind, id string) market.PermanentNumber
}

// LogReader reads log entries, for one goroutine. An entry's data is valid until the next
// call.
type LogReader interface {
	Next() (wal.Entry, error)
	Close()
}

// LogIdentity identifies a log. It differs between exchanges. It also changes with a restore or
// an accepted loss, because the same sequence numbers then belong to other entries.
type LogIdentity struct {
	Exchange [16]byte
	Epoch    uint32
}
