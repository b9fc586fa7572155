package exchange

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"pingpost/server/admin"
	"pingpost/wal/backup"
)

// backupRunner backs the exchange up while it serves. It reads files as another program
// would, so no request waits for it.
type backupRunner struct {
	shipper *backup.Shipper
	stop    context.CancelFunc
	ended   chan struct{} // closed when no task of the runner is active
	stopped error         // the error that ended shipping, if any
	backupTimeouts
}

// backupTimeouts limit the wait for the backup's store: at a start for the check whether
// this copy of the exchange may continue, and at a stop for the remaining data. A network
// folder may hang in a way that no context ends. So only a goroutine of the runner waits
// for it.
type backupTimeouts struct{ start, flush time.Duration }

const (
	backupStartTimeout = 10 * time.Second
	backupFlushTimeout = 10 * time.Second
)

// createShipper creates the backup's shipper, if a backup is configured. It checks that this
// exchange was not restored and started elsewhere, before the exchange sends anything to a
// buyer. A store that does not answer does not prevent the start.
func (x *Exchange) createShipper() error {
	if x.options.Backup == nil {
		return nil
	}
	opt, err := x.options.Backup(x.settings.Tenant)
	if err != nil {
		return err
	}
	opt.Logger = x.logger
	shipper, err := backup.NewShipper(backup.SourceFromLog(x.log), opt)
	if err != nil {
		return err
	}
	x.backupRunner.shipper = shipper
	err = x.backupRunner.checkNotContinuedElsewhere()
	if backup.IsPermanent(err) {
		return err
	}
	if err != nil {
		x.logger.Warn("the backup's store does not answer; the exchange starts without the check whether it was restored and started elsewhere", "to", opt.To.String(), "error", err)
	}
	x.backupRunner.addBackupGauges(x)
	return nil
}

// errBackupHangs is the error for a store that ignores even its timeout.
var errBackupHangs = errors.New("the backup's store hangs beyond its timeout")

// runOrAbandon runs a task of the shipper that a store may block. If the task ignores the end
// of its context, runOrAbandon returns errBackupHangs after 1.1 times the limit. The task then
// continues in the background, and a.ended is closed when it returns.
func (a *backupRunner) runOrAbandon(limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	done, ended := make(chan error, 1), make(chan struct{})
	a.ended = ended
	go func() {
		defer close(ended)
		defer cancel()
		done <- do(ctx)
	}()
	select {
	case err := <-done:
		<-ended
		return err
	case <-time.After(limit + limit/10):
		return errBackupHangs
	}
}

// checkNotContinuedElsewhere returns a permanent error if the store has the log of an exchange that
// was restored from this backup and started elsewhere.
func (a *backupRunner) checkNotContinuedElsewhere() error {
	return a.runOrAbandon(a.backupTimeouts.start, a.shipper.StartShipping)
}

// start ships the log from now on.
func (a *backupRunner) start(x *Exchange) {
	if a.shipper == nil {
		return
	}
	var ctx context.Context
	ctx, a.stop = context.WithCancel(context.Background())
	asked, ended := a.ended, make(chan struct{})
	a.ended = ended
	go func() {
		defer close(ended)
		<-asked
		if a.stopped = a.shipper.Run(ctx); a.stopped != nil {
			x.logger.Error("the backup stopped for good; the exchange continues without a backup", "error", a.stopped)
		}
	}()
}

// shipRestAndClose ships the last data, including the last snapshot. The log is closed by then.
func (a *backupRunner) shipRestAndClose(x *Exchange) {
	if a.shipper == nil {
		return
	}
	if a.stop != nil {
		a.stop()
		select {
		case <-a.ended:
		case <-time.After(a.backupTimeouts.flush):
		}
		if a.isIdle() && a.stopped == nil {
			a.shipOnce(x)
		}
	}
	if !a.isIdle() {
		x.logger.Warn("the backup's store hangs; the next start ships the remaining data")
		return
	}
	a.shipper.Close()
}

// isIdle reports whether no task is active.
func (a *backupRunner) isIdle() bool {
	select {
	case <-a.ended:
		return true
	default:
		return false
	}
}

// shipOnce ships the data that is not yet shipped, and logs a failure.
func (a *backupRunner) shipOnce(x *Exchange) {
	if err := a.runOrAbandon(a.backupTimeouts.flush, a.shipper.ShipAll); err != nil {
		x.logger.Warn("the backup is incomplete; the next start ships the remaining data", "error", err)
	}
}

// addBackupGauges adds the backup's progress to the metrics.
func (a *backupRunner) addBackupGauges(x *Exchange) {
	x.meter.AddGauge(`pingpost_backup_lag_seconds`, func() float64 { return a.shipper.Status().Lag.Seconds() })
	x.meter.AddGauge(`pingpost_backup_lag_entries`, func() float64 { return float64(a.shipper.Status().LagEntries) })
	x.meter.AddGauge(`pingpost_backup_errors_total`, func() float64 { return float64(a.shipper.Status().Errors) })
	x.meter.AddGauge(`pingpost_backup_last_success_timestamp_seconds`, func() float64 {
		if at := a.shipper.Status().LastSuccess; !at.IsZero() {
			return float64(at.UnixMilli()) / 1000
		}
		return 0
	})
}

// DataDir reads a configuration and returns its data directory, which must exist.
func DataDir(path string, env func(string) (string, bool)) (dir string, err error) {
	built, err := loadConfiguration(path, env)
	if err != nil {
		return "", err
	}
	dir = built.Settings.DataDir
	if _, err := os.Stat(dir); err != nil {
		return "", errors.Join(fmt.Errorf("cannot use the data_dir of %s", path), err)
	}
	return dir, nil
}

// BackUp makes the backup ship new data now. It returns false if no backup is configured.
func (x *Exchange) BackUp() bool {
	if x.Ready() != nil || x.backupRunner.shipper == nil {
		return false
	}
	x.backupRunner.shipper.Wake()
	return true
}

// Backup returns the progress of the backup.
func (x *Exchange) Backup() admin.Backup {
	if x.Ready() != nil || x.backupRunner.shipper == nil {
		return admin.Backup{}
	}
	now := x.backupRunner.shipper.Status()
	status := admin.Backup{Configured: true, Shipped: now.Shipped, Lag: now.Lag.Seconds()}
	if now.Err != nil {
		text := now.Err.Error()
		status.LastError = &text
	}
	return status
}
