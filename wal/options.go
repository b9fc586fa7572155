package wal

import (
	"log/slog"
	"time"
)

// Waiter receives the result of an Append, on the committer's goroutine and in log order. Its
// methods must not block. They must not wait for the result of an Append, for RunBetweenBatches or for
// Close, because these wait for the goroutine on which the methods run.
//
// Waiter is an alias of an unnamed interface. A package that must not import this one can
// therefore declare the same type.
type Waiter = interface {
	// Committed reports that the entry is durable as number seq; at is its batch's time
	// in unix nanoseconds.
	Committed(seq uint64, at int64)
	// Failed reports that the log will never commit the entry. The disk may have it
	// nevertheless, so a restart may find it.
	Failed(err error)
}

// Options configures Open. The zero value is valid.
type Options struct {
	// SegmentSize is the size in bytes at which a segment ends; the default is 2 MiB. The
	// committer's longest pauses grow with it.
	SegmentSize int
	// MaxBatch and MaxBatchBytes limit one fsync: by default 256 entries and 1 MiB.
	MaxBatch      int
	MaxBatchBytes int
	// QueueLen and QueueBytes limit the queue: by default 4,096 entries and 64 MiB.
	QueueLen   int
	QueueBytes int

	// From is the first sequence that the caller will replay: one after SnapshotInfo.LastInAllSections
	// of its snapshot. Earlier entries are checked in the background. Zero means all entries.
	From uint64
	// AtLeast is the newest sequence in a snapshot that has verified. Open rejects a log that
	// ends before it, because that log has lost entries.
	AtLeast uint64
	// MustReach is an entry of a cluster's log. The cluster does not deliver the entries up to it again, so
	// OpenReplica rejects a log that ends before it.
	MustReach uint64
	// NotBefore is the minimum time of a batch, in unix nanoseconds, for a log that is
	// empty after a snapshot.
	NotBefore int64

	// Now is the clock in unix nanoseconds. If it goes back, batches keep the time of
	// the batch before.
	Now func() int64
	// Observe, if set, is called on the committer's goroutine after each fsync.
	Observe func(BatchStats)
	Logger  *slog.Logger
	// Faults makes the disk fail on purpose, in tests.
	Faults Faults

	replica     bool // no committer: Replica.AppendBatch writes
	reopenAfter int  // rotations after which tidwall's log is reopened
}

// BatchStats measures one fsync and the entries that it made durable. If the batch ended a
// segment, the library wrote, fsynced and began the next file in one call. Sync is then the
// whole time, and Write is 0.
type BatchStats struct {
	Entries int
	Bytes   int // of records
	Write   time.Duration
	Sync    time.Duration
}

// Faults lets tests simulate a failing disk. Each function that is set runs before the real
// call. If it returns an error, the log behaves as if the disk had returned it.
type Faults struct {
	// Write receives the size of a batch. If it returns an error, the first `written` bytes
	// of the batch reach the file.
	Write func(size int) (written int, err error)
	// Sync runs before the fsync of a segment. If it fails, the batch's bytes are in the file.
	Sync func() error
	// SyncDir runs before the fsync of the log's folder.
	SyncDir func() error
}

// callerKnowsNoEntries reports whether the caller expects the folder to have no log entries yet: no
// snapshot and no earlier entry is known.
func (o Options) callerKnowsNoEntries() bool { return o.From <= 1 && o.AtLeast == 0 }

func (o Options) withDefaults() Options {
	setIfNotPositive(&o.SegmentSize, 2<<20)
	setIfNotPositive(&o.MaxBatch, 256)
	setIfNotPositive(&o.MaxBatchBytes, 1<<20)
	setIfNotPositive(&o.QueueLen, 4096)
	setIfNotPositive(&o.QueueBytes, 64<<20)
	setIfNotPositive(&o.reopenAfter, 10_000)
	if o.Now == nil {
		o.Now = monotonicClock()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func setIfNotPositive(field *int, defaultValue int) {
	if *field <= 0 {
		*field = defaultValue
	}
}

// monotonicClock returns a clock in unix nanoseconds. It starts at the current time and then
// advances independently of the machine's clock, so that setting that clock does not affect
// it.
func monotonicClock() func() int64 {
	start := time.Now()
	wall := start.UnixNano()
	return func() int64 { return wall + int64(time.Since(start)) }
}
