package exchange

import (
	"fmt"
	"sync/atomic"
	"time"

	"pingpost/wal"
)

// snapshotter writes a snapshot whenever a start would have a long replay, and archives
// the log before it.
//
// A replay is long from minBytes on, and from the size of the last snapshot on. A snapshot
// writes everything in memory, so a fixed distance would cost more per lead the more leads
// memory has. This way the disk writes at most about twice the log, and a start reads at
// most about twice the snapshot.
type snapshotter struct {
	minBytes uint64        // bytes of log that a start may always have to replay
	interval time.Duration // between two checks

	last     atomic.Uint64    // newest entry in the last snapshot
	needed   [2]atomic.Uint64 // the entries after which the last but one snapshot, and the last, need the log
	replayed atomic.Uint64    // bytes of log that this start replayed; 0 once a snapshot covers them
	written  uint64           // bytes of log that this process had written at the last snapshot
	quit     chan struct{}
	done     chan struct{}
}

const (
	snapshotBytes    = 256 << 20
	snapshotInterval = 5 * time.Second
	archiveInterval  = time.Minute
)

// recordLoadedSnapshot records the snapshot that the start used, and the bytes that it replayed.
func (k *snapshotter) recordLoadedSnapshot(b *startPoint, replayed uint64) {
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
		x.disk.setExpectedSnapshot(x.estimateSnapshotSize())
		if written := x.log.Stats().Bytes; k.isDue(written, x.disk.last.Load()) && !x.disk.low.Load() {
			if err := x.writeSnapshot(); err != nil {
				x.logger.Error("cannot write a snapshot; the log is kept instead", "error", err)
			}
			k.resetCount(written)
		}
		if time.Since(swept) > archiveInterval {
			swept = time.Now()
			x.archiveSegments()
		}
	}
}

// isDue reports whether a start would have a long replay, given the bytes of log that this
// process wrote and the size of the last snapshot.
func (k *snapshotter) isDue(written, snapshot uint64) bool {
	return k.replayed.Load()+written-k.written >= max(k.minBytes, snapshot)
}

// resetCount starts a new count. It does so after a failed snapshot too, so that the
// snapshotter does not retry at every check.
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

// archiveSegments archives the segments that the snapshot before the newest does not need,
// because the newest may turn out to be damaged. A start knows that older snapshot only
// after it has written one more; until then it archives no segment. Archived segments can
// still be replayed until their history ends.
func (x *Exchange) archiveSegments() {
	x.log.RaiseArchiveBounds(x.snapshots.needed[0].Load(), x.clock.Now()-int64(x.settings.History))
}

// writeSnapshot writes the state to a file while the state goes on changing. Its entries
// are durable, because the state applies only durable entries.
func (x *Exchange) writeSnapshot() error {
	began := time.Now()
	size := x.estimateSnapshotSize()
	if x.disk.setExpectedSnapshot(size); !x.disk.measureRoomFor(size) {
		return errDiskLow
	}
	w, err := x.log.CreateSnapshot(wal.SnapshotOptions{LiftLimit: x.snapshots.quit})
	if err != nil {
		return fmt.Errorf("cannot begin a snapshot: %w", err)
	}
	defer w.Abort()
	oldest, newest, err := x.state.WriteSnapshot(&reserveWriter{to: w, monitor: &x.disk})
	if err != nil {
		return fmt.Errorf("cannot write a snapshot: %w", err)
	}
	info, err := w.Commit(oldest, newest, nil)
	if err != nil {
		return fmt.Errorf("cannot finish a snapshot: %w", err)
	}
	if x.snapshots.last.Swap(newest) != newest { // otherwise it replaced the same file
		x.snapshots.needed[0].Store(x.snapshots.needed[1].Load())
	}
	x.snapshots.needed[1].Store(oldest)
	x.disk.last.Store(info.Bytes)
	x.disk.setExpectedSnapshot(x.estimateSnapshotSize())
	x.logger.Info("snapshot written", "entry", newest, "bytes", info.Bytes, "seconds", time.Since(began).Seconds())
	return nil
}
