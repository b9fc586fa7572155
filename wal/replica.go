package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
type Replica struct{ *Log }

// OpenReplica opens the log in dir like Open, for batches of a cluster.
func OpenReplica(dir string, opt Options) (*Replica, error) {
	opt.replica = true
	l, err := Open(dir, opt)
	if err != nil {
		return nil, err
	}
	return &Replica{l}, nil
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
		if err := l.appendWithoutSync(); err != nil {
			l.failForGood(err, nil)
			return 0, 0, l.Err()
		}
	}
	clear(l.batch)
	return first, l.at, nil
}

// appendWithoutSync writes l.batch. If that fills the segment, the batch is durable and the next segment
// begins. Otherwise only the operating system has it.
func (l *Log) appendWithoutSync() error {
	l.encodeBatch(frameHeader{seq: l.end.seq, batch: l.end.seq + 1, at: l.at, epoch: l.epoch}, l.batch)
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
	if full {
		return l.rotate()
	}
	return nil
}

// Sync makes everything durable that was appended before the call, and returns the number of the last
// durable entry. It does not block AppendBatch. After an error the log has failed for good.
//
// It uses a file of its own: the writer's lock would make AppendBatch wait for the disk. Full segments
// are durable already, so only the last one needs an fsync. A new file sees an earlier write-back error
// too, because nobody else has called fsync on this segment.
func (r *Replica) Sync() (durable uint64, err error) {
	if err := r.Err(); err != nil {
		return 0, err
	}
	end := r.durableEnd()
	if err := r.syncSegment(end.seg); err != nil {
		r.failForGood(err, nil)
		return 0, r.Err()
	}
	return end.seq, nil
}

func (r *Replica) syncSegment(first uint64) error {
	path := filepath.Join(logDir(r.dir), segmentName(first))
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot open log segment %q: %w", path, err)
	}
	if r.opt.Faults.Sync != nil {
		err = r.opt.Faults.Sync()
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot fsync log segment %q: %w", path, err)
	}
	return nil
}
