package report

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/wal"
)

// A Source is the log that is followed.
type Source interface {
	// Life is which log it is.
	Life() Life
	// NewReader reads from an entry on, or from the oldest there is (0), up to the
	// present end, where it gives io.EOF and may be asked again. The error is wal.ErrGone
	// where history no longer holds the entry.
	NewReader(from uint64) (Reader, error)
	// Durable is the last entry that is.
	Durable() (seq uint64, at int64)
	// ArrivalName is what a number was configured as; empty: it is not known.
	NameOf(kind event.NameKind, ref market.Ref) string
	// RefOf is a name's number; zero: it was never configured.
	RefOf(kind event.NameKind, id string) market.Ref
}

// A Reader is of one goroutine. An entry's data is good until the next call.
type Reader interface {
	Next() (wal.Entry, error)
	Close()
}

// Life tells logs apart: two exchanges', and the one before a restore or an accepted
// loss from the one after it, in which the same numbers are of other entries.
type Life struct {
	Exchange [16]byte
	Epoch    uint32
}
