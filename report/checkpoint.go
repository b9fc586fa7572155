package report

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"pingpost/wal"
)

// A settler moves what SQLite has in its log into its file, as a checkpoint of its own
// would, but so that commits on the same disk do not wait: SQLite writes some megabytes
// and fsyncs them at once, twice, and a commit that comes then stands behind all of it.
//
// What holds, as with synchronous=NORMAL: the log is on the disk before a page of the file
// is written, and the file is before the log begins anew, since who settles is who writes,
// and it writes nothing in between. SQLite fsyncs a log's new beginning itself.
//
// The file is held open here until SQLite has let go of it: the system drops a process's
// locks on a file with whichever of its descriptors is closed first.
type checkpointer struct {
	file                  *os.File
	entries, transactions int // taken, or removed, since it settled

	lastHeader  walHeader // of SQLite's log, when
	movedFrames int64     // so many of its frames had been moved, and the file was fsynced
}

// Either makes a thousand pages of SQLite's log or so, which is when it would checkpoint.
const (
	checkpointEntries      = 4000
	checkpointTransactions = 20
	checkpointRate         = 32 << 20 // bytes a second, but where much is left to do and nobody waits

	// Where much is left to do each page waits for more that is written to it.
	checkpointEntriesCatchingUp = 4 * checkpointEntries
)

// wrote counts a transaction.
func (s *checkpointer) countTransaction(entries int) {
	s.entries += entries
	s.transactions++
}

// settle is called between two transactions. What a passing want of descriptors or another
// program's checkpoint keeps it from is done after the next one.
func (f *file) checkpointIfDue(ctx context.Context) error {
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
	settled, err := f.checkpointAt(context.WithoutCancel(ctx), rate)
	if err != nil {
		return classify(fmt.Errorf("the report's file cannot be written: %w", err))
	}
	if settled {
		s.entries, s.transactions = 0, 0
	}
	return nil
}

func (f *file) checkpointAt(ctx context.Context, rate int64) (finished bool, err error) {
	log, err := os.Open(f.path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil // SQLite has it open, and nothing is wrong with it
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	s := &f.checkpointer
	l, err := readWAL(log, s.lastHeader, s.movedFrames)
	if err != nil {
		return false, err
	}
	if err := errors.Join(wal.FlushPaced(log, l.frames(), rate), log.Sync()); err != nil {
		return false, err
	}
	done, err := f.runCheckpoint(ctx)
	if err != nil || done < 0 {
		return false, err
	}
	if err := errors.Join(wal.FlushPaced(s.file, l.pages(), rate), s.file.Sync()); err != nil {
		return false, err
	}
	s.lastHeader, s.movedFrames = l.head, done
	return true, nil
}

// checkpoint writes the log's pages into the file, which is not fsynced, and tells how
// many frames are in it now: fewer than there are where a reader still needs an older
// page. Less than zero: another program is at it.
func (f *file) runCheckpoint(ctx context.Context) (done int64, err error) {
	if err := f.exec(ctx, "PRAGMA synchronous = OFF"); err != nil {
		return 0, err
	}
	var busy, frames int64
	err = f.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &done)
	return done, errors.Join(err, f.exec(ctx, "PRAGMA synchronous = NORMAL"))
}
