package wal

import (
	"log/slog"
	"time"
)

// A Waiter is told what became of its entry, on the committer's goroutine and in
// log order. It must not block, and must not call Append, Do or Close and wait for
// them. It is an alias of an unnamed interface, so that a package which must not
// import this one can name the same type.
type Waiter = interface {
	// Committed says that the entry is durable as number seq; at is its batch's
	// time in unix nanoseconds.
	Committed(seq uint64, at int64)
	// Failed says that the entry will never be reported durable. Whether a restart
	// finds it is open: the disk may have it.
	Failed(err error)
}

// preparer is a Waiter that has to fetch from afar what Committed works on. Some
// of a batch are called one after the other, before Committed of the first, so
// that the processor fetches for all of them at once.
type preparer interface{ Prepare() }

// Options of Open. The zero value is good.
type Options struct {
	// SegmentSize is the size in bytes at which a segment ends; 2 MiB by default.
	// The committer's worst stalls grow with it.
	SegmentSize int
	// MaxBatch and MaxBatchBytes bound what one fsync covers: 256 entries, 1 MiB.
	MaxBatch      int
	MaxBatchBytes int
	// QueueLen and QueueBytes bound what waits for the committer: 4,096 entries, 64 MiB.
	QueueLen   int
	QueueBytes int

	// From is the first sequence that the caller will replay: one past its snapshot's
	// oldest stamp. What comes before is checked in the background. Zero means all.
	From uint64
	// AtLeast is the newest sequence that a snapshot has seen. A log that ends before
	// it has lost entries, and refuses to open. That snapshot has verified.
	AtLeast uint64
	// NotBefore is a time that no batch may precede, in unix nanoseconds, for a log
	// that is empty behind a snapshot.
	NotBefore int64

	// Now is the clock in unix nanoseconds. Where it goes back, batches keep the
	// time of the one before.
	Now func() int64
	// Observe, when set, is called on the committer's goroutine after each fsync.
	Observe func(Batch)
	Logger  *slog.Logger
	// Faults makes the disk fail on purpose, in tests.
	Faults Faults

	reopenAfter int // segments after which tidwall's log is opened anew
}

// A Batch is what one fsync covered. One that ended a segment was written, fsynced
// and followed by the next file in one call of the library: that is all Sync, and
// Write is 0.
type Batch struct {
	Entries int
	Bytes   int // of records
	Write   time.Duration
	Sync    time.Duration
}

// Faults stand in for a failing disk. Each function that is set is asked before
// the real call; its error is then what the log meets.
type Faults struct {
	// Write gets the size of a batch; of a batch that it fails, the first `written`
	// bytes reach the file.
	Write func(size int) (written int, err error)
	// Sync is asked before a segment is fsynced; the bytes have been written.
	Sync func() error
	// SyncDir is asked before the log's folder is fsynced.
	SyncDir func() error
}

// isOfNewLog says that the caller knows of no entry.
func (o Options) isOfNewLog() bool { return o.From <= 1 && o.AtLeast == 0 }

func (o Options) withDefaults() Options {
	setDefault(&o.SegmentSize, 2<<20)
	setDefault(&o.MaxBatch, 256)
	setDefault(&o.MaxBatchBytes, 1<<20)
	setDefault(&o.QueueLen, 4096)
	setDefault(&o.QueueBytes, 64<<20)
	setDefault(&o.reopenAfter, 10_000)
	if o.Now == nil {
		o.Now = monotonicClock()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func setDefault(field *int, value int) {
	if *field <= 0 {
		*field = value
	}
}

// monotonicClock is the wall clock of this moment and what has passed since, so
// that stepping the machine's clock does not touch it.
func monotonicClock() func() int64 {
	start := time.Now()
	wall := start.UnixNano()
	return func() int64 { return wall + int64(time.Since(start)) }
}
