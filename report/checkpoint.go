package report

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"pingpost/wal"
)

// sqliteCheckpointer moves SQLite's write-ahead log into the database file, like SQLite's own
// checkpoint, but without delaying commits on the same disk. SQLite would write some
// megabytes and fsync them at once, twice, and a commit would wait behind all of it.
//
// Invariant, as with synchronous=NORMAL: the log is on disk before a page of the file is
// written, and the file is on disk before the log restarts. The writer itself checkpoints and
// writes no data in between. SQLite fsyncs the restarted log itself.
//
// The file stays open here until SQLite has closed it: the system drops a process's locks on
// a file when any of its descriptors is closed.
type sqliteCheckpointer struct {
	file                  *os.File
	entries, transactions int // applied or removed since the last checkpoint

	lastHeader  sqliteWALHeader // of SQLite's log at the last checkpoint
	movedFrames int64           // frames that are in the fsynced file
}

// Each limit is about a thousand pages of SQLite's log, at which SQLite would checkpoint.
const (
	checkpointEntries      = 4000
	checkpointTransactions = 20
	checkpointRate         = 32 << 20 // bytes a second; unlimited while catching up without contention

	// While catching up, each page gets more changes before it is moved.
	checkpointEntriesCatchingUp = 4 * checkpointEntries
)

// recordTransaction counts a transaction and its log entries or removed rows, so that checkpointIfDue
// knows when a checkpoint is due.
func (s *sqliteCheckpointer) recordTransaction(entriesOrRows int) {
	s.entries += entriesOrRows
	s.transactions++
}

// checkpointIfDue runs a checkpoint if enough entries or transactions were written since the
// last one. The writer calls it between two transactions. If no file descriptors are free or
// another program checkpoints, it tries again after the next transaction.
func (f *reportDatabase) checkpointIfDue(ctx context.Context) error {
	s := &f.checkpointer
	entries, rate := checkpointEntries, int64(checkpointRate)
	if f.throttle.catchingUp {
		entries = checkpointEntriesCatchingUp
	}
	if ctx.Err() != nil || f.throttle.catchingUp && !f.throttle.contended {
		rate = 0
	}
	if s.entries < entries && s.transactions < checkpointTransactions {
		return nil
	}
	settled, err := f.checkpointAtRate(context.WithoutCancel(ctx), rate)
	if err != nil {
		return wrapIfRebuildHelps(fmt.Errorf("the report's database cannot be written: %w", err))
	}
	if settled {
		s.entries, s.transactions = 0, 0
	}
	return nil
}

// checkpointAtRate flushes SQLite's log, makes SQLite move its pages into the file, and flushes the
// file, at most bytesPerSecond (0: unlimited). hasRun is false without an error if the log cannot be
// opened now or another program checkpoints. Pages that a reader prevents from moving stay for the next
// checkpoint.
func (f *reportDatabase) checkpointAtRate(ctx context.Context, bytesPerSecond int64) (hasRun bool, err error) {
	log, err := os.Open(f.path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil // a temporary failure: SQLite has the file open
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	s := &f.checkpointer
	l, err := listUncheckpointedPages(log, s.lastHeader, s.movedFrames)
	if err != nil {
		return false, err
	}
	if err := errors.Join(wal.FlushPaced(log, l.rangesOfHeaderAndNewFrames(), bytesPerSecond), log.Sync()); err != nil {
		return false, err
	}
	done, err := f.runCheckpointWithoutFsync(ctx)
	if err != nil || done < 0 {
		return false, err
	}
	if err := errors.Join(wal.FlushPaced(s.file, l.rangesOfChangedPages(), bytesPerSecond), s.file.Sync()); err != nil {
		return false, err
	}
	s.lastHeader, s.movedFrames = l.head, done
	return true, nil
}

// runCheckpointWithoutFsync makes SQLite write the pages of its log into the file, without fsync.
// framesInDatabase is the number of log frames that are now in the database file. It is less than all if a
// reader needs an older page, and negative if another program checkpoints.
func (f *reportDatabase) runCheckpointWithoutFsync(ctx context.Context) (framesInDatabase int64, err error) {
	if err := f.executeStatement(ctx, "PRAGMA synchronous = OFF"); err != nil {
		return 0, err
	}
	var busy, frames int64
	err = f.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &framesInDatabase)
	return framesInDatabase, errors.Join(err, f.executeStatement(ctx, "PRAGMA synchronous = NORMAL"))
}
