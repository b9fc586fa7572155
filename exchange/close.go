package exchange

import (
	"errors"
	"time"
)

// Close stops the exchange in order: it makes another node of its cluster the leader, refuses new
// requests, answers those in flight, waits for the current webhook attempts, writes a snapshot, closes the
// log and ships the rest of the backup. After a failed start it closes only the parts that were opened; the
// others are nil.
func (x *Exchange) Close() error {
	x.handOverIfLeading()
	x.draining.Store(true)
	began, wasReady := time.Now(), x.ready.Load()
	var err error
	if wasReady {
		err = x.publicServer.Shutdown()
	}
	if !x.isClustered() {
		x.stopDeciding()
	}
	err = errors.Join(err, x.leaveCluster())
	x.snapshots.stop()
	x.lastUses.stopAndSave(x)
	x.reporter.close()
	x.keyCheck.wait()
	x.tracer.Close(traceFlushTimeout)
	if wasReady && x.log.Err() == nil {
		err = errors.Join(err, x.writeSnapshotAtStop())
	}
	switch {
	case x.replica != nil:
		err = errors.Join(err, x.replica.Close())
	case x.log != nil:
		err = errors.Join(err, x.log.Close())
	}
	x.backupRunner.shipRestAndClose(x)
	err = errors.Join(err, x.adminServer.Shutdown())
	x.closeListenersAndMarkEnded()
	if x.buyers != nil {
		x.buyers.Close()
	}
	if x.keys != nil {
		x.keys.Close()
	}
	if wasReady {
		x.logger.Info("stopped", "seconds", time.Since(began).Seconds(), "clean", err == nil)
	}
	return err
}

// writeSnapshotAtStop writes a last snapshot of the state, so that the next start need not
// replay the log. If the disk has too little space for it, it logs a warning and returns nil.
func (x *Exchange) writeSnapshotAtStop() error {
	err := x.writeSnapshot()
	if errors.Is(err, errDiskLow) {
		x.logger.Warn("the last snapshot was not written; the next start replays the log instead", "error", err)
		return nil
	}
	return err
}

// closeListenersAndMarkEnded closes both listeners, waits until their servers have returned, and closes
// x.ended. The servers alone do not suffice: one that was shut down before it began to serve
// leaves its listener open.
func (x *Exchange) closeListenersAndMarkEnded() {
	x.publicListener.Close()
	x.adminListener.Close()
	x.serving.Wait()
	close(x.ended)
}
