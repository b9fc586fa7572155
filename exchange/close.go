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
	err := x.doors.Shutdown()
	x.endHooks() // while the engine still logs what the last attempts come to
	x.engine.Load().Close()
	x.keeper.stop()
	x.uses.end(x)
	x.reporter.end()
	x.keyCheck.end()
	x.tracer.Close(tracesWait)
	if x.log.Err() == nil {
		err = errors.Join(err, x.lastSnapshot())
	}
	err = errors.Join(err, x.log.Close())
	x.archivist.end(x)
	err = errors.Join(err, x.admin.Shutdown())
	x.hangUp()
	x.buyers.Close()
	x.keys.Close()
	x.logger.Info("stopped", "seconds", time.Since(began).Seconds(), "clean", err == nil)
	return err
}

// lastSnapshot spares the next start its replay. Without room for it the stop is
// no less orderly.
func (x *Exchange) lastSnapshot() error {
	err := x.snapshot()
	if errors.Is(err, errNoRoom) {
		x.logger.Warn("no snapshot was written; the next start replays the log", "error", err)
		return nil
	}
	return err
}

// hangUp closes the listeners and waits for those who serve them. A server that
// was shut down before it began to serve knows of no listener to close.
func (x *Exchange) hangUp() {
	x.public.Close()
	x.private.Close()
	x.serving.Wait()
	close(x.gone)
}

// abandon gives back what a start that failed had taken.
func (x *Exchange) abandon() error {
	x.draining.Store(true)
	err := x.admin.Shutdown()
	x.hangUp()
	x.endHooks()
	if e := x.engine.Load(); e != nil {
		e.Close()
	}
	x.uses.end(x)
	x.reporter.end()
	x.keyCheck.end()
	x.tracer.Close(tracesWait)
	if x.log != nil {
		err = errors.Join(err, x.log.Close())
	}
	x.archivist.end(x)
	if x.buyers != nil {
		x.buyers.Close()
	}
	if x.keys != nil {
		x.keys.Close()
	}
	return err
}
