package exchange

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/wal"
	"pingpost/wal/rowfile"
)

// snapshotter writes a snapshot whenever a start would have a long replay, and archives
// the log before it.
//
// A replay is long if it reads at least minBytes, and at least the size of the last snapshot. A
// snapshot writes everything in memory, so a fixed distance would cost more per lead the more leads
// memory has. This way the disk writes at most about twice the log, and a start reads at
// most about twice the snapshot.
type snapshotter struct {
	minBytes uint64        // bytes of log that a start may always have to replay
	interval time.Duration // between two checks

	writing  sync.Mutex       // held while a snapshot or a cold file is written
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

	mergeRetryInterval = 10 * time.Minute
)

// recordLoadedSnapshot stores from which snapshot the exchange started, and how many bytes of log it
// replayed after it. The replayed bytes count towards the next snapshot.
func (k *snapshotter) recordLoadedSnapshot(b *replayStart, replayedBytes uint64) {
	k.last.Store(b.Newest)
	k.needed[1].Store(b.LastInAllSections)
	k.replayed.Store(replayedBytes)
}

func (k *snapshotter) start(x *Exchange) {
	k.quit, k.done = make(chan struct{}), make(chan struct{})
	go k.run(x)
}

func (k *snapshotter) run(x *Exchange) {
	defer close(k.done)
	ticker := time.NewTicker(k.interval)
	defer ticker.Stop()
	var swept, mergeFailed time.Time
	for {
		select {
		case <-k.quit:
			return
		case <-ticker.C:
		}
		x.disk.setExpectedSnapshotSize(x.estimateNextSnapshotBytes())
		if written := x.log.Stats().Bytes; k.isDue(written, x.disk.last.Load()) && !x.disk.low.Load() {
			if err := x.writeSnapshot(); err != nil {
				x.logger.Error("cannot write a snapshot of the state; the log keeps its segments, and the next start replays more of them", "error", err)
			}
			k.restartByteCount(written)
		}
		if time.Since(mergeFailed) > mergeRetryInterval {
			if err := x.mergeColdFilesIfMany(); err != nil {
				mergeFailed = time.Now()
				x.logger.Error("cannot merge files with rows of closed leads; requests look into more of them", "error", err)
			}
		}
		if time.Since(swept) > archiveInterval {
			swept = time.Now()
			x.raiseLogArchiveAndDeletionLimits()
		}
	}
}

// isDue reports whether a new snapshot should be written, because a start would now replay too much
// log. totalWrittenBytes is the number of log bytes that this process wrote so far. lastSnapshotBytes is
// the size of the last snapshot.
func (k *snapshotter) isDue(totalWrittenBytes, lastSnapshotBytes uint64) bool {
	return k.replayed.Load()+totalWrittenBytes-k.written >= max(k.minBytes, lastSnapshotBytes)
}

// restartByteCount begins to count the log bytes for the next snapshot at zero. It is called after a
// failed snapshot too, so that the snapshotter does not retry every few seconds.
func (k *snapshotter) restartByteCount(writtenBytes uint64) {
	k.replayed.Store(0)
	k.written = writtenBytes
}

func (k *snapshotter) stop() {
	if k.quit != nil {
		close(k.quit)
		<-k.done
	}
}

// raiseLogArchiveAndDeletionLimits moves log segments that no start needs into the archive. A start may
// need all segments after the last but one snapshot, because the newest snapshot may be damaged. After
// a start that snapshot is unknown until one more was written, so no segment is archived before.
//
// Archived segments can still be replayed until the configured history ends.
func (x *Exchange) raiseLogArchiveAndDeletionLimits() {
	x.snapshots.writing.Lock()
	history := max(x.settings.History, x.cold.KeptFor())
	x.snapshots.writing.Unlock()
	x.log.RaiseArchiveAndDeletionLimits(x.snapshots.needed[0].Load(), x.clock.Now()-int64(history))
}

// writeSnapshot writes the state to a snapshot file while the exchange continues to change the
// state. The snapshot contains no event that could still be lost, because the state applies
// only durable events.
func (x *Exchange) writeSnapshot() error {
	x.snapshots.writing.Lock()
	defer x.snapshots.writing.Unlock()
	began := time.Now()
	size := x.estimateNextSnapshotBytes()
	if x.disk.setExpectedSnapshotSize(size); !x.disk.measureAndCheckRoomFor(size) {
		return errDiskLow
	}
	w, err := x.log.BeginSnapshot(wal.SnapshotRateOptions{LiftLimit: x.snapshots.quit})
	if err != nil {
		return fmt.Errorf("cannot begin a snapshot: %w", err)
	}
	defer w.Abort()
	segments, err := wal.Segments(x.log.Dir())
	if err != nil || len(segments) == 0 {
		return fmt.Errorf("cannot list the log's segments: %w", err)
	}
	move, err := x.cold.BeginMove(x.state, x.clock.Now()-int64(x.settings.HotFor), segments[0].First, x.snapshotWriteRate())
	if err != nil {
		return err
	}
	defer move.Abort()
	oldest, newest, err := x.state.WriteSnapshot(&diskReserveCheckingWriter{to: w, monitor: &x.disk}, &move.Rows)
	if err != nil {
		return fmt.Errorf("cannot write a snapshot: %w", err)
	}
	meta, err := move.Finish()
	if err != nil {
		return fmt.Errorf("cannot write a file with rows of closed leads: %w", err)
	}
	if x.replica != nil { // the state may have entries that are not durable in this node's log yet
		if _, err := x.replica.Sync(); err != nil {
			return err
		}
	}
	info, err := w.Commit(oldest, newest, meta)
	if err != nil {
		return fmt.Errorf("cannot finish a snapshot: %w", err)
	}
	replacesLast := x.snapshots.last.Load() == newest
	if err := move.Apply(replacesLast, x.clock.Now()); err != nil {
		err = fmt.Errorf("cannot remove rows of closed leads from memory: %w", err)
		x.stopBecauseOfColdFile(err)
		return err
	}
	if x.snapshots.last.Swap(newest) != newest { // otherwise it replaced the same file
		x.snapshots.needed[0].Store(x.snapshots.needed[1].Load())
	}
	x.snapshots.needed[1].Store(oldest)
	x.disk.last.Store(info.Bytes)
	x.disk.setExpectedSnapshotSize(x.estimateNextSnapshotBytes())
	x.logger.Info("snapshot written", "entry", newest, "bytes", info.Bytes, "rows_moved_to_files", move.Rows.Moved, "seconds", time.Since(began).Seconds())
	return nil
}

// mergeColdFilesIfMany merges two files with rows of closed leads if there are many.
func (x *Exchange) mergeColdFilesIfMany() error {
	x.snapshots.writing.Lock()
	defer x.snapshots.writing.Unlock()
	_, err := x.cold.MergeIfMany(x.state, x.disk.measureAndCheckRoomFor, x.snapshotWriteRate())
	return err
}

// snapshotWriteRate is the rate of a snapshot and of cold files. A stop lifts it.
func (x *Exchange) snapshotWriteRate() rowfile.WriteOptions {
	return rowfile.WriteOptions{BytesPerSecond: wal.SnapshotRate, LiftLimit: x.snapshots.quit}
}
