package wal

import (
	"encoding/binary"
	"fmt"
	"runtime"
)

// commitLoop is the committer: the one goroutine that writes.
//
// While an fsync runs, entries gather in the queue; the next batch is all of them,
// up to the limits. So a lone entry waits for no timer, and under load the batches
// grow by themselves. The order is always: write, fsync, publish the position, tell
// each Waiter in log order, wake the followers. What a Waiter is told can then be
// read at once.
//
// Its thread is locked: under CPU load the scheduler would otherwise let the
// goroutine that everyone waits for queue behind those that wait.
//
// Rejected: a timer that lets batches grow (it taxes the idle case and adds nothing
// under load), and a second goroutine that tells waiters while the next fsync runs
// (apply would then run beside the next batch's write, for a gain that the short
// Committed calls do not have).
func (l *Log) commitLoop() {
	runtime.LockOSThread()
	defer close(l.done)
	for {
		batch, calls := l.queue.take(l.batch[:0], l.opt.MaxBatch, l.opt.MaxBatchBytes, l.disk.room())
		if len(batch) == 0 && len(calls) == 0 {
			return
		}
		l.batch = batch
		for _, c := range calls {
			c.f(l.end.seq, l.end.at) // only this goroutine writes end
			c.done <- nil
		}
		if len(batch) == 0 {
			continue
		}
		full, err := l.commit(batch)
		if err != nil {
			l.fail(err, batch)
			return
		}
		clear(batch)
		l.queue.landed()
		if full {
			if err := l.turn(); err != nil {
				l.fail(err, nil)
				return
			}
		}
	}
}

// commit makes a batch durable and tells its waiters. full says that it ended a segment.
func (l *Log) commit(batch []item) (full bool, err error) {
	h := header{seq: l.end.seq, batch: l.end.seq + 1, at: max(l.opt.Now(), l.at), epoch: l.epoch}
	l.encode(h, batch)
	b := Batch{Entries: len(batch), Bytes: len(l.encoded)}
	took, full, err := l.disk.write(l.encoded, len(batch))
	if err != nil {
		return full, err
	}
	if b.Write = took; full {
		b.Write, b.Sync = 0, took
	} else if b.Sync, err = l.disk.sync(); err != nil {
		return full, err
	}
	l.at = h.at
	l.publish(b)
	if l.opt.Observe != nil {
		l.opt.Observe(b)
	}
	tell(batch, h.batch, h.at)
	l.wakeFollowers()
	return full, nil
}

// prepared is how many waiters prepare at a time: enough to fetch side by side, few
// enough that what they fetched is still near when they are told.
const prepared = 16

// tell tells the waiters of a durable batch.
func tell(batch []item, first uint64, at int64) {
	for len(batch) > 0 {
		some := batch[:min(prepared, len(batch))]
		for i := range some {
			if w, ok := some[i].waiter.(preparer); ok {
				w.Prepare()
			}
		}
		for i := range some {
			if w := some[i].waiter; w != nil {
				w.Committed(first+uint64(i), at)
			}
		}
		batch, first = batch[len(some):], first+uint64(len(some))
	}
}

// encode writes the batch's records to l.encoded, as they will stand in the file,
// and hands each frame to tidwall's batch, which copies it.
func (l *Log) encode(h header, batch []item) {
	l.encoded = l.encoded[:0]
	l.disk.batch.Clear()
	for i := range batch {
		h.seq++
		l.encoded = binary.AppendUvarint(l.encoded, uint64(headerSize+len(batch[i].data)))
		start := len(l.encoded)
		l.encoded = appendFrame(l.encoded, h, batch[i].data)
		l.disk.batch.Write(h.seq, l.encoded[start:])
	}
}

func (l *Log) publish(b Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end.seq += uint64(b.Entries)
	l.end.at = l.at
	l.end.off += int64(b.Bytes)
	l.end.total += int64(b.Bytes)
	l.stats.Batches++
	l.stats.Entries += uint64(b.Entries)
	l.stats.Bytes += uint64(b.Bytes)
}

// turn goes on in the segment that the last batch has made tidwall begin.
func (l *Log) turn() error {
	if err := l.disk.turn(l.opt.reopenAfter); err != nil {
		return err
	}
	l.mu.Lock()
	l.end.seg, l.end.off = l.disk.first, 0
	l.stats.Segments++
	l.mu.Unlock()
	l.shelf.began(l.disk.first)
	return nil
}

// fail ends the log for good: the queue takes nothing more before anyone can hear
// of the failure; then the batch in hand, and all that was queued, is told. Nothing
// is called on the disk again.
func (l *Log) fail(cause error, batch []item) {
	err := fmt.Errorf("%w: %w", ErrFailed, cause)
	l.mu.Lock()
	l.failure = err
	l.mu.Unlock()
	items, calls := l.queue.fail(err)
	close(l.failed)
	l.log.Error("the log has failed; nothing more will be acknowledged", "error", cause)
	for _, it := range append(batch, items...) {
		if it.waiter != nil {
			it.waiter.Failed(err)
		}
	}
	for _, c := range calls {
		c.done <- err
	}
	l.wakeFollowers()
}
