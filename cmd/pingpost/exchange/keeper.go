package exchange

import (
	"fmt"
	"sync/atomic"
	"time"

	"pingpost/wal"
)

// keeper writes a snapshot whenever the log has grown enough since the last
// one, and lets go of the log behind it.
type keeper struct {
	last   atomic.Uint64    // newest entry that the last snapshot has seen
	needed [2]atomic.Uint64 // entries after which the last but one, and the last, need the log
	bytes  uint64           // of the log when it was taken
	quit   chan struct{}
	done   chan struct{}
}

const (
	// snapshotEvery is how many bytes of log a start may have to replay.
	snapshotEvery = 256 << 20
	keeperLooks   = 5 * time.Second
	archiveLooks  = time.Minute
)

func (k *keeper) begin(x *Exchange) {
	k.quit, k.done = make(chan struct{}), make(chan struct{})
	k.bytes = x.log.Stats().Bytes
	go k.run(x)
}

func (k *keeper) run(x *Exchange) {
	defer close(k.done)
	ticker := time.NewTicker(keeperLooks)
	defer ticker.Stop()
	var swept time.Time
	for {
		select {
		case <-k.quit:
			return
		case <-ticker.C:
		}
		if x.log.Stats().Bytes-k.bytes >= snapshotEvery && !x.room.low.Load() {
			if err := x.snapshot(); err != nil {
				x.logger.Error("a snapshot could not be written; the log is kept", "error", err)
			}
			k.bytes = x.log.Stats().Bytes
		}
		if time.Since(swept) > archiveLooks {
			swept = time.Now()
			x.sweep()
		}
	}
}

func (k *keeper) stop() {
	if k.quit != nil {
		close(k.quit)
		<-k.done
	}
}

// sweep lets go of what is behind the older of the two snapshots that are kept:
// the newest one may yet turn out to be damaged.
func (x *Exchange) sweep() {
	x.log.Archive(x.keeper.needed[0].Load(), x.clock.Now()-int64(x.settings.History))
}

// snapshot writes the state aside, while it goes on changing.
func (x *Exchange) snapshot() error {
	began := time.Now()
	w, err := x.log.CreateSnapshot(wal.SnapshotOptions{})
	if err != nil {
		return fmt.Errorf("cannot begin a snapshot: %w", err)
	}
	defer w.Abort()
	oldest, newest, err := x.state.WriteSnapshot(w)
	if err != nil {
		return fmt.Errorf("cannot write a snapshot: %w", err)
	}
	// Whoever loads the snapshot must find the log at least as long.
	if err := x.log.Do(func(uint64, int64) {}); err != nil {
		return fmt.Errorf("cannot wait for the log: %w", err)
	}
	info, err := w.Commit(oldest, newest, nil)
	if err != nil {
		return fmt.Errorf("cannot finish a snapshot: %w", err)
	}
	x.keeper.last.Store(newest)
	x.keeper.needed[0].Store(x.keeper.needed[1].Load())
	x.keeper.needed[1].Store(oldest)
	x.room.needs.Store(reserve + 2*info.Bytes)
	x.logger.Info("snapshot written", "entry", newest, "bytes", info.Bytes, "seconds", time.Since(began).Seconds())
	return nil
}
