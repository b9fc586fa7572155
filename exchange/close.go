package exchange

import (
	"errors"
	"time"
)

// Close stops the exchange in order: it refuses new requests, answers those in flight,
// waits for the current webhook attempts, syncs the log and writes a snapshot.
func (x *Exchange) Close() error {
	x.draining.Store(true)
	began := time.Now()
	err := x.publicServer.Shutdown()
	x.closeWebhooks() // while the engine still logs the results of the last attempts
	x.engine.Load().Close()
	x.snapshots.stop()
	x.lastUses.stopAndSave(x)
	x.reporter.close()
	x.keyCheck.wait()
	x.tracer.Close(traceFlushTimeout)
	if x.log.Err() == nil {
		err = errors.Join(err, x.writeSnapshotAtStop())
	}
	err = errors.Join(err, x.log.Close())
	x.backupRunner.shipRestAndClose(x)
	err = errors.Join(err, x.adminServer.Shutdown())
	x.closeListeners()
	x.buyers.Close()
	x.keys.Close()
	x.logger.Info("stopped", "seconds", time.Since(began).Seconds(), "clean", err == nil)
	return err
}

// writeSnapshotAtStop spares the next start its replay. A stop without disk space for it is
// still clean.
func (x *Exchange) writeSnapshotAtStop() error {
	err := x.writeSnapshot()
	if errors.Is(err, errDiskLow) {
		x.logger.Warn("the last snapshot was not written; the next start replays the log instead", "error", err)
		return nil
	}
	return err
}

// closeListeners closes the listeners and waits for their servers. A server that was shut
// down before it began to serve does not close its listener.
func (x *Exchange) closeListeners() {
	x.publicListener.Close()
	x.adminListener.Close()
	x.serving.Wait()
	close(x.ended)
}

// releaseAfterFailedStart releases everything that a failed start had opened.
func (x *Exchange) releaseAfterFailedStart() error {
	x.draining.Store(true)
	err := x.adminServer.Shutdown()
	x.closeListeners()
	x.closeWebhooks()
	if e := x.engine.Load(); e != nil {
		e.Close()
	}
	x.lastUses.stopAndSave(x)
	x.reporter.close()
	x.keyCheck.wait()
	x.tracer.Close(traceFlushTimeout)
	if x.log != nil {
		err = errors.Join(err, x.log.Close())
	}
	x.backupRunner.shipRestAndClose(x)
	if x.buyers != nil {
		x.buyers.Close()
	}
	if x.keys != nil {
		x.keys.Close()
	}
	return err
}
