package wal

import (
	"encoding/binary"
	"fmt"
	"runtime"

	"pingpost/wal/commitqueue"
)

// commitLoop runs on the committer's goroutine, the only one that writes to the log.
//
// While an fsync runs, new entries collect in the queue. The next batch takes all of them, up
// to the limits. So a single entry waits for no timer, and batches grow under load. The order
// is always: write, fsync, publish the position, notify each Waiter in log order. A Waiter can
// therefore read its entry at once.
//
// The goroutine locks its thread: all waiters depend on it, and under CPU load the scheduler
// would otherwise queue it behind them.
//
// Rejected: a timer that lets batches grow. It delays single entries and gains nothing under
// load.
//
// Rejected: a second goroutine that notifies waiters during the next fsync. Events would then
// be applied beside the next batch's write, and Committed calls are too short to gain from
// that.
func (l *Log) commitLoop() {
	runtime.LockOSThread()
	defer close(l.done)
	for {
		batch, calls := l.queue.DequeueBatch(l.batch[:0], l.opt.MaxBatch, l.opt.MaxBatchBytes, l.writer.bytesLeft())
		if len(batch) == 0 && len(calls) == 0 {
			return
		}
		l.batch = batch
		for _, c := range calls {
			c.Run(l.end.seq, l.end.at) // only this goroutine writes end
			c.Done <- nil
		}
		if len(batch) == 0 {
			continue
		}
		full, err := l.commitBatch(batch)
		if err != nil {
			l.failForGood(err, batch)
			return
		}
		clear(batch)
		l.queue.MarkBatchCommitted()
		if full {
			if err := l.rotate(); err != nil {
				l.failForGood(err, nil)
				return
			}
		}
	}
}

// commitBatch writes and fsyncs a batch of entries, and then notifies their waiters. full
// reports that the batch filled the segment, so that the caller must rotate to the next one.
func (l *Log) commitBatch(batch []commitqueue.Entry) (full bool, err error) {
	h := frameHeader{seq: l.end.seq, batch: l.end.seq + 1, at: max(l.opt.Now(), l.at), epoch: l.epoch}
	l.encodeBatch(h, batch)
	b := BatchStats{Entries: len(batch), Bytes: len(l.encoded)}
	took, full, err := l.writer.write(l.encoded, len(batch))
	if err != nil {
		return full, err
	}
	if b.Write = took; full {
		b.Write, b.Sync = 0, took
	} else if b.Sync, err = l.writer.sync(); err != nil {
		return full, err
	}
	l.at = h.at
	l.publishCommittedBatch(b)
	if l.opt.Observe != nil {
		l.opt.Observe(b)
	}
	commitqueue.NotifyCommitted(batch, h.batch, h.at)
	return full, nil
}

// encodeBatch encodes the batch's entries into l.encoded, exactly as the segment file will
// have them. It also adds each frame to the batch of the tidwall/wal library, which copies
// it.
func (l *Log) encodeBatch(h frameHeader, batch []commitqueue.Entry) {
	l.encoded = l.encoded[:0]
	l.writer.batch.Clear()
	for i := range batch {
		h.seq++
		l.encoded = binary.AppendUvarint(l.encoded, uint64(headerSize+len(batch[i].Data)))
		start := len(l.encoded)
		l.encoded = appendFrame(l.encoded, h, batch[i].Data)
		l.writer.batch.Write(h.seq, l.encoded[start:])
	}
}

func (l *Log) publishCommittedBatch(b BatchStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end.seq += uint64(b.Entries)
	l.end.at = l.at
	l.end.off += int64(b.Bytes)
	l.stats.Batches++
	l.stats.Entries += uint64(b.Entries)
	l.stats.Bytes += uint64(b.Bytes)
}

// rotate makes the segment current that the tidwall/wal library began when the last batch
// filled the previous one.
func (l *Log) rotate() error {
	if err := l.writer.finishRotation(l.opt.reopenAfter); err != nil {
		return err
	}
	l.mu.Lock()
	l.end.seg, l.end.off = l.writer.first, 0
	l.stats.Segments++
	l.mu.Unlock()
	l.archiver.addNewSegment(l.writer.first)
	return nil
}

// failForGood stops the log after a disk error. First it makes the queue reject new entries.
// Then it reports the failure to the waiters of the current batch (unacknowledged) and of all
// queued entries. After this the committer does not use the disk again.
func (l *Log) failForGood(cause error, unacknowledged []commitqueue.Entry) {
	err := fmt.Errorf("%w: %w", ErrFailed, cause)
	l.mu.Lock()
	again := l.failure != nil
	if !again {
		l.failure = err
	}
	l.mu.Unlock()
	if again { // AppendBatch and Sync of a Replica can fail at once
		return
	}
	items, calls := l.queue.CloseAndTakeAll(err)
	close(l.failed)
	l.log.Error("log failed: it will acknowledge no further entry; repair the disk and restart", "error", cause)
	commitqueue.NotifyFailed(append(unacknowledged, items...), err)
	for _, c := range calls {
		c.Done <- err
	}
}
