package wal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"

	"pingpost/wal/commitqueue"
)

// ErrReplica is returned by Append and RunBetweenBatches of a log that OpenReplica opened. The content of
// that log comes from a cluster.
var ErrReplica = errors.New("this log only copies the batches of its cluster")

// Replica is a log whose batches come from a cluster, complete with their times. The cluster keeps
// them durable elsewhere until Sync has reported them, so AppendBatch does not wait for the disk.
//
// One goroutine calls AppendBatch, and any goroutine calls Sync. Readers, snapshots and the archive
// work as in every log, except that an entry may be read before it is durable here. After a crash the
// cluster delivers the lost entries again, with the same numbers, times and bytes.
//
// A snapshot of the state must not contain entries that a crash can remove from the log. So its writer calls
// Sync first, and commits the snapshot only if that reports its last entry.
type Replica struct {
	*Log
	closeOnce sync.Once
	continued uint64 // number of the batch that the next record continues; 0: it begins a batch

	lastMu sync.Mutex
	last   *openSegment
}

// OpenReplica opens the log in dir like Open, for batches of a cluster.
//
// After a power loss any bytes since the last Sync may be bad, not only those of one batch as in Open. So it
// cuts the last segment at the first bad byte, with a copy under damage/. If the log then ends before
// Options.MustReach, it changes no byte and returns an error.
func OpenReplica(dir string, opt Options) (*Replica, error) {
	opt.replica = true
	l, err := Open(dir, opt)
	if err != nil {
		return nil, err
	}
	r := &Replica{Log: l}
	if err := r.openLast(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return r, nil
}

// AppendBatch appends entries with the time of their batch, in Unix nanoseconds. It returns the
// number of the first entry and the time that the batch got: no less than that of the batch before.
// A batch that does not fit into the current segment is stored as several. After an error the log has
// failed for good.
func (r *Replica) AppendBatch(at int64, entries [][]byte) (first uint64, batchTime int64, err error) {
	l := r.Log
	if err := l.Err(); err != nil {
		return 0, 0, err
	}
	first, l.at = l.end.seq+1, max(at, l.at)
	for len(entries) > 0 {
		l.batch = l.batch[:0]
		for size := 0; len(entries) > 0 && size < l.writer.bytesLeft(); entries = entries[1:] {
			if len(entries[0]) == 0 || len(entries[0]) > MaxEntry {
				panic(fmt.Sprintf("BUG: the cluster delivered an entry of %d bytes", len(entries[0])))
			}
			size += recordSize(len(entries[0]))
			l.batch = append(l.batch, commitqueue.Entry{Data: entries[0]})
		}
		if err := r.appendWithoutSync(); err != nil {
			l.failForGood(err, nil)
			return 0, 0, l.Err()
		}
	}
	clear(l.batch)
	return first, l.at, nil
}

// ContinueBatch prepares the rest of a batch. If the last entry belongs to the cluster's batch whose first entry
// is number `first`, the next AppendBatch adds to that batch. A crash can leave only its beginning in the log,
// which must get the bytes of the other nodes' logs. ContinueBatch does nothing if the epoch changed, because an
// operator accepted a loss, or if a new segment begins.
func (r *Replica) ContinueBatch(first uint64) error {
	end := r.publishedEnd()
	if end.off == 0 {
		return nil // a segment begins with a batch
	}
	last, err := r.EntryAt(end.seq)
	if err == nil && last.Batch >= first && last.Epoch == r.epoch {
		r.continued = last.Batch
	}
	return err
}

// appendWithoutSync writes l.batch. If that fills the segment, the batch is durable and the next segment
// begins. Otherwise only the operating system has it.
func (r *Replica) appendWithoutSync() error {
	l := r.Log
	l.encodeBatch(frameHeader{seq: l.end.seq, batch: cmp.Or(r.continued, l.end.seq+1), at: l.at, epoch: l.epoch}, l.batch)
	r.continued = 0
	b := BatchStats{Entries: len(l.batch), Bytes: len(l.encoded)}
	took, full, err := l.writer.write(l.encoded, len(l.batch))
	if err != nil {
		return err
	}
	b.Write = took
	l.publishCommittedBatch(b)
	if l.opt.Observe != nil {
		l.opt.Observe(b)
	}
	if !full {
		return nil
	}
	if err := l.rotate(); err != nil {
		return err
	}
	return r.openLast()
}

// Sync makes everything durable that was appended before the call, and returns the number of the last
// durable entry. It does not block AppendBatch. After an error the log has failed for good.
//
// Full segments are durable already, so only the last one needs an fsync. Sync uses another file than the
// writer, whose lock would make AppendBatch wait for the disk.
func (r *Replica) Sync() (durable uint64, err error) {
	if err := r.Err(); err != nil {
		return 0, err
	}
	end := r.publishedEnd()
	s := r.acquireLast() // after end: a later segment means that the one of end is durable
	if s == nil {
		return 0, ErrClosed
	}
	defer r.release(s)
	if r.opt.Faults.Sync != nil {
		err = r.opt.Faults.Sync()
	}
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		r.failForGood(fmt.Errorf("cannot fsync log segment %q: %w", s.file.Name(), err), nil)
		return 0, r.Err()
	}
	return end.seq, nil
}

// Close closes the log.
func (r *Replica) Close() error {
	err := r.Log.Close()
	r.closeOnce.Do(func() { r.replaceLast(nil) })
	return err
}

// openSegment is the last segment, opened for Sync before its first batch was written. The kernel reports a
// failed write-back once to each file that was open at that time. A file that Sync opened later would not
// get the error if a reader in another process had called fsync before.
type openSegment struct {
	file  *os.File
	users int // calls of Sync, and 1 while it is the last segment
}

// openLast opens the present last segment for Sync.
func (r *Replica) openLast() error {
	path := livePath(r.dir, r.publishedEnd().seg)
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot open log segment %q: %w", path, err)
	}
	r.replaceLast(&openSegment{file: f, users: 1})
	return nil
}

func (r *Replica) replaceLast(next *openSegment) {
	r.lastMu.Lock()
	before := r.last
	r.last = next
	r.lastMu.Unlock()
	if before != nil {
		r.release(before)
	}
}

// acquireLast returns the last segment; nil after Close.
func (r *Replica) acquireLast() *openSegment {
	r.lastMu.Lock()
	defer r.lastMu.Unlock()
	if r.last != nil {
		r.last.users++
	}
	return r.last
}

func (r *Replica) release(s *openSegment) {
	r.lastMu.Lock()
	defer r.lastMu.Unlock()
	if s.users--; s.users == 0 {
		_ = s.file.Close() // it was only read
	}
}
