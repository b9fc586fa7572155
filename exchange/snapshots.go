package exchange

import (
	"fmt"
	"sync/atomic"
	"time"

	"pingpost/wal"
)

// keeper writes a snapshot whenever a start would have much to replay, and lets go
// of the log behind it.
//
// Much is at least every, and at least as much as the last snapshot was large: a
// snapshot writes all that memory holds, so one at a fixed distance would cost the
// more for each lead, the more leads are held. This way the disk writes at most
// about twice what the log has, and a start reads at most about twice the snapshot.
type snapshotter struct {
	minBytes uint64        // bytes of log that a start may have to replay in any case
	interval time.Duration // between two looks at how many there are

	last     atomic.Uint64    // newest entry that the last snapshot has seen
	needed   [2]atomic.Uint64 // entries after which the last but one, and the last, need the log
	replayed atomic.Uint64    // bytes of log that this start had to read; 0 once a snapshot stands behind them
	written  uint64           // bytes of log that this process had written when the last snapshot was taken
	quit     chan struct{}
	done     chan struct{}
}

const (
	snapshotBytes    = 256 << 20
	snapshotInterval = 5 * time.Second
	archiveInterval  = time.Minute
)

// loaded tells what the start built on, and how much it had to replay.
func (k *snapshotter) setLoaded(b *startPoint, replayed uint64) {
	k.last.Store(b.Newest)
	k.needed[1].Store(b.Oldest)
	k.replayed.Store(replayed)
}

func (k *snapshotter) start(x *Exchange) {
	k.quit, k.done = make(chan struct{}), make(chan struct{})
	go k.run(x)
}

func (k *snapshotter) run(x *Exchange) {
	defer close(k.done)
	ticker := time.NewTicker(k.interval)
	defer ticker.Stop()
	var swept time.Time
	for {
		select {
		case <-k.quit:
			return
		case <-ticker.C:
		}
		x.disk.setExpected(x.snapshotSize())
		if written := x.log.Stats().Bytes; k.isDue(written, x.disk.last.Load()) && !x.disk.low.Load() {
			if err := x.writeSnapshot(); err != nil {
				x.logger.Error("a snapshot could not be written; the log is kept", "error", err)
			}
			k.resetCount(written)
		}
		if time.Since(swept) > archiveInterval {
			swept = time.Now()
			x.archiveSegments()
		}
	}
}

// due tells whether a start would have much to replay, with so much written by
// this process, and beside a last snapshot of so many bytes.
func (k *snapshotter) isDue(written, snapshot uint64) bool {
	return k.replayed.Load()+written-k.written >= max(k.minBytes, snapshot)
}

// taken counts from here. After a snapshot that failed it does so too: what it
// failed for is not tried again with every look.
func (k *snapshotter) resetCount(written uint64) {
	k.replayed.Store(0)
	k.written = written
}

func (k *snapshotter) stop() {
	if k.quit != nil {
		close(k.quit)
		<-k.done
	}
}

// sweep archives what the snapshot before the newest does not need: the newest one
// may yet turn out to be damaged. Which that is, a start knows only when it has
// written one more; until then nothing moves. What is archived can be replayed all
// the same, until its history ends.
func (x *Exchange) archiveSegments() {
	x.log.Archive(x.snapshots.needed[0].Load(), x.clock.Now()-int64(x.settings.History))
}

// snapshot writes the state aside, while it goes on changing. The entries that it
// has seen are durable: the state knows no others.
func (x *Exchange) writeSnapshot() error {
	began := time.Now()
	size := x.snapshotSize()
	if x.disk.setExpected(size); !x.disk.hasRoomFor(size) {
		return errDiskLow
	}
	w, err := x.log.CreateSnapshot(wal.SnapshotOptions{LiftLimit: x.snapshots.quit})
	if err != nil {
		return fmt.Errorf("cannot begin a snapshot: %w", err)
	}
	defer w.Abort()
	oldest, newest, err := x.state.WriteSnapshot(&reserveWriter{to: w, room: &x.disk})
	if err != nil {
		return fmt.Errorf("cannot write a snapshot: %w", err)
	}
	info, err := w.Commit(oldest, newest, nil)
	if err != nil {
		return fmt.Errorf("cannot finish a snapshot: %w", err)
	}
	if x.snapshots.last.Swap(newest) != newest { // else the same file was written anew
		x.snapshots.needed[0].Store(x.snapshots.needed[1].Load())
	}
	x.snapshots.needed[1].Store(oldest)
	x.disk.last.Store(info.Bytes)
	x.disk.setExpected(x.snapshotSize())
	x.logger.Info("snapshot written", "entry", newest, "bytes", info.Bytes, "seconds", time.Since(began).Seconds())
	return nil
}
