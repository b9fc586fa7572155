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

// backupRunner copies the exchange's log and snapshots to the configured backup store while the
// exchange serves. It reads the files from disk as a separate program would, so requests never
// wait for it.
type backupRunner struct {
	shipper *backup.Shipper
	stop    context.CancelFunc
	ended   chan struct{} // closed when no task of the runner is active
	stopped error         // the error that ended shipping, if any
	backupTimeouts
}

// backupTimeouts limits how long the exchange waits for the backup's store. start limits the
// check at a start whether another copy of the exchange continued from this backup. flush
// limits the shipping of the remaining data at a stop.
//
// A store in a network folder may hang in a system call that no context can cancel. So only a
// goroutine of the backupRunner calls the store.
type backupTimeouts struct{ start, flush time.Duration }

const (
	backupStartTimeout = 10 * time.Second
	backupFlushTimeout = 10 * time.Second
)

// createShipperAndClaimBackup creates the shipper, which copies the log to the backup's store, if a backup is
// configured. It runs before the exchange sends anything to a buyer.
//
// It fails if the exchange may not back up to this place (backup.IsPermanent), for example because
// another copy was restored from this backup and started elsewhere. If the store does not answer or
// reports another error, it logs a warning, and the start continues.
func (x *Exchange) createShipperAndClaimBackup() error {
	if x.options.Backup == nil {
		return nil
	}
	opt, err := x.options.Backup(x.settings.Tenant)
	if err != nil {
		return err
	}
	opt.Logger = x.logger
	source := backup.SourceFromLog(x.log)
	if x.replica != nil {
		source = backup.SourceFromReplica(x.replica)
	}
	shipper, err := backup.NewShipper(source, opt)
	if err != nil {
		return err
	}
	x.backupRunner.shipper = shipper
	err = x.backupRunner.runOrLeaveInBackground(x.backupRunner.backupTimeouts.start, shipper.PrepareShipping)
	if backup.IsPermanent(err) {
		return err
	}
	if err != nil {
		x.logger.Warn("the backup's store is unreachable or reports an error; the exchange starts without the check whether another copy of it was restored and started elsewhere", "to", opt.To.String(), "error", err)
	}
	x.backupRunner.addBackupGauges(x)
	return nil
}

// errBackupHangs says that a call of the backup's store did not return even after its context
// had ended.
var errBackupHangs = errors.New("the backup's store hangs beyond its timeout")

// runOrLeaveInBackground runs task, a task of the shipper that may block on the store, with a
// context that ends after timeout. If task still runs after 1.1 times the timeout, it returns
// errBackupHangs. The task then continues in the background. a.ended is closed when it returns.
func (a *backupRunner) runOrLeaveInBackground(timeout time.Duration, task func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	done, ended := make(chan error, 1), make(chan struct{})
	a.ended = ended
	go func() {
		defer close(ended)
		defer cancel()
		done <- task(ctx)
	}()
	select {
	case err := <-done:
		<-ended
		return err
	case <-time.After(timeout + timeout/10):
		return errBackupHangs
	}
}

// startShipping begins to ship the log to the backup's store in the background, until shipRestAndClose.
// It first waits for the check of createShipperAndClaimBackup if that still hangs. Without a configured
// backup it does nothing.
func (a *backupRunner) startShipping(x *Exchange) {
	if a.shipper == nil {
		return
	}
	var ctx context.Context
	ctx, a.stop = context.WithCancel(context.Background())
	previous, ended := a.ended, make(chan struct{})
	a.ended = ended
	go func() {
		defer close(ended)
		<-previous
		if a.stopped = a.shipper.Run(ctx); a.stopped != nil {
			x.logger.Error("the backup stopped for good; the exchange continues without a backup", "error", a.stopped)
		}
	}()
}

// shipRestAndClose stops the shipping, ships the data that the store lacks, and closes the shipper. The
// exchange calls it at a stop, after it wrote the last snapshot and closed the log. If the store hangs,
// it logs that the next start ships the rest, and does not close the shipper. It ships no data if
// shipping never began or ended with a permanent error.
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
		if a.hasNoRunningTask() && a.stopped == nil {
			if err := a.runOrLeaveInBackground(a.backupTimeouts.flush, a.shipper.ShipAll); err != nil {
				x.logger.Warn("the backup is incomplete; the next start ships the remaining data", "error", err)
			}
		}
	}
	if !a.hasNoRunningTask() {
		x.logger.Warn("the backup's store hangs; the next start ships the remaining data")
		return
	}
	a.shipper.Close()
}

// hasNoRunningTask reports whether no task of the shipper runs, not even one that
// runOrLeaveInBackground abandoned.
func (a *backupRunner) hasNoRunningTask() bool {
	select {
	case <-a.ended:
		return true
	default:
		return false
	}
}

// addBackupGauges registers the pingpost_backup_* metrics: lag, number of errors, and time of
// the last success.
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

// DataDir reads the configuration file at configPath and returns its data directory. It fails if the
// directory does not exist. lookUpEnv looks up the variables that the configuration uses.
func DataDir(configPath string, lookUpEnv func(string) (string, bool)) (dir string, err error) {
	built, err := loadConfiguration(configPath, lookUpEnv)
	if err != nil {
		return "", err
	}
	dir = built.Settings.DataDir
	if _, err := os.Stat(dir); err != nil {
		return "", errors.Join(fmt.Errorf("cannot use the data_dir that the configuration file %q names", configPath), err)
	}
	return dir, nil
}

// RequestBackupNow makes the running backup ship new data at once, and does not wait for it. It returns
// false if no backup is configured or the exchange is not ready.
func (x *Exchange) RequestBackupNow() (requested bool) {
	if x.Ready() != nil || x.backupRunner.shipper == nil {
		return false
	}
	x.backupRunner.shipper.Wake()
	return true
}

// BackupStatus returns the progress of the backup for the admin API: whether one is configured, the last
// entry that is in the store, the lag and the last error. While the exchange is not ready, the result
// says only whether a backup is configured.
func (x *Exchange) BackupStatus() admin.BackupStatus {
	if x.Ready() != nil || x.backupRunner.shipper == nil {
		return admin.BackupStatus{Configured: x.options.Backup != nil}
	}
	now := x.backupRunner.shipper.Status()
	status := admin.BackupStatus{Configured: true, Shipped: now.Shipped, Lag: now.Lag.Seconds()}
	if now.Err != nil {
		text := now.Err.Error()
		status.LastError = &text
	}
	return status
}
