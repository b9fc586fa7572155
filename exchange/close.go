package exchange

import (
	"errors"
	"time"
)

// Close ends the exchange in order: no new requests, those in flight answered,
// the webhooks under way brought to their end, the log synced, a snapshot written.
func (x *Exchange) Close() error {
	x.draining.Store(true)
	began := time.Now()
	err := x.publicServer.Shutdown()
	x.closeWebhooks() // while the engine still logs what the last attempts come to
	x.engine.Load().Close()
	x.snapshots.stop()
	x.lastUses.close(x)
	x.reporter.close()
	x.keyCheck.wait()
	x.tracer.Close(traceFlushTimeout)
	if x.log.Err() == nil {
		err = errors.Join(err, x.writeLastSnapshot())
	}
	err = errors.Join(err, x.log.Close())
	x.backupRunner.close(x)
	err = errors.Join(err, x.adminServer.Shutdown())
	x.closeListeners()
	x.buyers.Close()
	x.keys.Close()
	x.logger.Info("stopped", "seconds", time.Since(began).Seconds(), "clean", err == nil)
	return err
}

// lastSnapshot spares the next start its replay. Without room for it the stop is
// no less orderly.
func (x *Exchange) writeLastSnapshot() error {
	err := x.writeSnapshot()
	if errors.Is(err, errDiskLow) {
		x.logger.Warn("no snapshot was written; the next start replays the log", "error", err)
		return nil
	}
	return err
}

// hangUp closes the listeners and waits for those who serve them. A server that
// was shut down before it began to serve knows of no listener to close.
func (x *Exchange) closeListeners() {
	x.publicListener.Close()
	x.adminListener.Close()
	x.serving.Wait()
	close(x.ended)
}

// abandon gives back what a start that failed had taken.
func (x *Exchange) abortStart() error {
	x.draining.Store(true)
	err := x.adminServer.Shutdown()
	x.closeListeners()
	x.closeWebhooks()
	if e := x.engine.Load(); e != nil {
		e.Close()
	}
	x.lastUses.close(x)
	x.reporter.close()
	x.keyCheck.wait()
	x.tracer.Close(traceFlushTimeout)
	if x.log != nil {
		err = errors.Join(err, x.log.Close())
	}
	x.backupRunner.close(x)
	if x.buyers != nil {
		x.buyers.Close()
	}
	if x.keys != nil {
		x.keys.Close()
	}
	return err
}
