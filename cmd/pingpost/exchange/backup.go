package exchange

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"pingpost/wal/backup"
)

// archivist backs the exchange up while it serves. It reads files like any other
// program would, so whatever becomes of it, no request waits for it.
type archivist struct {
	shipper *backup.Shipper
	stop    context.CancelFunc
	ended   chan struct{} // closed when it has stopped shipping
	stopped error         // why it did, where nobody asked it to
}

// asksFor bounds how long a start waits to hear from the backup's store whether this
// copy of the exchange may go on, and shipsFor how long a stop waits for it to have all.
const (
	asksFor  = 10 * time.Second
	shipsFor = 10 * time.Second
)

// askBackup sees that no later life of this exchange goes on elsewhere, before
// anything is sent to a buyer. A store that does not answer is no reason not to serve.
func (x *Exchange) askBackup() error {
	if x.opt.Backup == nil {
		return nil
	}
	opt, err := x.opt.Backup(x.settings.Tenant)
	if err != nil {
		return err
	}
	opt.Logger = x.logger
	shipper, err := backup.NewShipper(backup.Open(x.log), opt)
	if err != nil {
		return err
	}
	x.archivist.shipper = shipper
	ctx, cancel := context.WithTimeout(context.Background(), asksFor)
	defer cancel()
	err = shipper.Begin(ctx)
	if backup.Stops(err) {
		return err
	}
	if err != nil {
		x.logger.Warn("the backup's store does not answer; the exchange starts without knowing whether a later life of it was begun", "to", opt.To.String(), "error", err)
	}
	x.archivist.gauges(x)
	return nil
}

// begin ships from here on.
func (a *archivist) begin(x *Exchange) {
	if a.shipper == nil {
		return
	}
	var ctx context.Context
	ctx, a.stop = context.WithCancel(context.Background())
	a.ended = make(chan struct{})
	go func() {
		defer close(a.ended)
		if a.stopped = a.shipper.Run(ctx); a.stopped != nil {
			x.logger.Error("the backup has stopped for good; the exchange goes on without one", "error", a.stopped)
		}
	}()
}

// end ships what the exchange ended with, the last snapshot too. The log is closed.
func (a *archivist) end(x *Exchange) {
	if a.shipper == nil {
		return
	}
	if a.stop != nil {
		a.stop()
		select {
		case <-a.ended:
		case <-time.After(shipsFor):
			x.logger.Warn("the backup's store hangs; what was not shipped yet is shipped after the next start")
			return
		}
		if a.stopped == nil {
			a.finish(x)
		}
	}
	a.shipper.Close()
}

func (a *archivist) finish(x *Exchange) {
	ctx, cancel := context.WithTimeout(context.Background(), shipsFor)
	defer cancel()
	if err := a.shipper.Once(ctx); err != nil {
		x.logger.Warn("the backup does not have all; the rest is shipped after the next start", "error", err)
	}
}

func (a *archivist) gauges(x *Exchange) {
	x.meter.Gauge(`pingpost_backup_lag_seconds`, func() float64 { return a.shipper.Status().Lag.Seconds() })
	x.meter.Gauge(`pingpost_backup_lag_entries`, func() float64 { return float64(a.shipper.Status().LagEntries) })
	x.meter.Gauge(`pingpost_backup_errors_total`, func() float64 { return float64(a.shipper.Status().Errors) })
	x.meter.Gauge(`pingpost_backup_last_success_timestamp_seconds`, func() float64 {
		if at := a.shipper.Status().LastSuccess; !at.IsZero() {
			return float64(at.UnixMilli()) / 1000
		}
		return 0
	})
}

// DataDir reads a configuration and says where it keeps its data.
func DataDir(path string, env func(string) (string, bool)) (dir string, err error) {
	built, err := read(path, env)
	if err != nil {
		return "", err
	}
	dir = built.Settings.DataDir
	if _, err := os.Stat(dir); err != nil {
		return "", errors.Join(fmt.Errorf("cannot use the data_dir of %s", path), err)
	}
	return dir, nil
}
