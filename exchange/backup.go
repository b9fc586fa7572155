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

// backupRunner backs the exchange up while it serves. It reads files like any other
// program would, so whatever becomes of it, no request waits for it.
type backupRunner struct {
	shipper *backup.Shipper
	stop    context.CancelFunc
	ended   chan struct{} // closed when nothing of it is under way any more
	stopped error         // why it stopped shipping, where nobody asked it to
	backupTimeouts
}

// waits are how long a start waits to hear from the backup's store whether this copy
// of the exchange may go on, and a stop for it to have all. A store
// that is a folder of another machine may hang, and then no context ends what waits for it:
// so nobody but a goroutine of the backupRunner's does.
type backupTimeouts struct{ start, flush time.Duration }

const (
	backupStartTimeout = 10 * time.Second
	backupFlushTimeout = 10 * time.Second
)

// askBackup sees that no later life of this exchange goes on elsewhere, before
// anything is sent to a buyer. A store that does not answer is no reason not to serve.
func (x *Exchange) prepareBackup() error {
	if x.options.Backup == nil {
		return nil
	}
	opt, err := x.options.Backup(x.settings.Tenant)
	if err != nil {
		return err
	}
	opt.Logger = x.logger
	shipper, err := backup.NewShipper(backup.Open(x.log), opt)
	if err != nil {
		return err
	}
	x.backupRunner.shipper = shipper
	err = x.backupRunner.checkLife()
	if backup.Stops(err) {
		return err
	}
	if err != nil {
		x.logger.Warn("the backup's store does not answer; the exchange starts without knowing whether a later life of it was begun", "to", opt.To.String(), "error", err)
	}
	x.backupRunner.addGauges(x)
	return nil
}

// errBackupHangs is of a store that does not even give up.
var errBackupHangs = errors.New("the backup's store hangs")

// within does something with the shipper that a store may hang in. What hangs goes on,
// and ended is closed once it does not.
func (a *backupRunner) withTimeout(limit time.Duration, do func(context.Context) error) error {
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

func (a *backupRunner) checkLife() error {
	return a.withTimeout(a.backupTimeouts.start, a.shipper.Begin)
}

// begin ships from here on.
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
			x.logger.Error("the backup has stopped for good; the exchange goes on without one", "error", a.stopped)
		}
	}()
}

// end ships what the exchange ended with, the last snapshot too. The log is closed.
func (a *backupRunner) close(x *Exchange) {
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
			a.flush(x)
		}
	}
	if !a.isIdle() {
		x.logger.Warn("the backup's store hangs; what was not shipped yet is shipped after the next start")
		return
	}
	a.shipper.Close()
}

// idle tells whether nothing of it is under way.
func (a *backupRunner) isIdle() bool {
	select {
	case <-a.ended:
		return true
	default:
		return false
	}
}

func (a *backupRunner) flush(x *Exchange) {
	if err := a.withTimeout(a.backupTimeouts.flush, a.shipper.Once); err != nil {
		x.logger.Warn("the backup does not have all; the rest is shipped after the next start", "error", err)
	}
}

func (a *backupRunner) addGauges(x *Exchange) {
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

// BackUp has the backup look at once for what it does not have yet; false: none is
// configured.
func (x *Exchange) BackUp() bool {
	if x.Ready() != nil || x.backupRunner.shipper == nil {
		return false
	}
	x.backupRunner.shipper.Wake()
	return true
}

// Backup says how far the backup is.
func (x *Exchange) Backup() admin.Backup {
	if x.Ready() != nil || x.backupRunner.shipper == nil {
		return admin.Backup{}
	}
	now := x.backupRunner.shipper.Status()
	told := admin.Backup{Configured: true, Shipped: now.Shipped, Lag: now.Lag.Seconds()}
	if now.Err != nil {
		text := now.Err.Error()
		told.LastError = &text
	}
	return told
}
