package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"pingpost/engine/event"
	"pingpost/report/projection"
	"pingpost/wal"
)

// openNewestDatabaseOrCreateIfNone opens the report's newest database, or creates one. It removes older
// ones.
func (r *Report) openNewestDatabaseOrCreateIfNone(ctx context.Context) (*reportDatabase, error) {
	if err := os.MkdirAll(r.opt.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the folder of the report's database: %w", err)
	}
	highest, all, err := listDatabaseFiles(r.opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder of the report's database: %w", err)
	}
	for n, path := range all {
		if n != highest {
			err = errors.Join(err, removeDatabaseFiles(path))
		}
	}
	select {
	case <-r.rebuilds: // a request for the previous file
	default:
	}
	fresh := len(all) == 0
	if r.fileNumber = max(r.fileNumber, highest); fresh {
		r.fileNumber++
	}
	dir, absErr := filepath.Abs(r.opt.Dir)
	if err = errors.Join(err, absErr); err != nil {
		return nil, fmt.Errorf("cannot remove old databases of the report: %w", err)
	}
	f, err := openDatabaseForWriting(ctx, filepath.Join(dir, strconv.Itoa(r.fileNumber)+suffix))
	if err != nil {
		return nil, fmt.Errorf("cannot open the report's database: %w", wrapOpenErrorIfRebuildHelps(err))
	}
	f.openSums.limit = r.opt.maxOpenSums
	if err := r.prepareDatabase(ctx, f, fresh); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// wrapOpenErrorIfRebuildHelps decides whether a new database can resolve an error of opening
// one. It cannot if the operating system refused access. Other errors go to
// wrapIfRebuildHelps.
func wrapOpenErrorIfRebuildHelps(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return err
	}
	return wrapIfRebuildHelps(err)
}

func (r *Report) prepareDatabase(ctx context.Context, f *reportDatabase, isNew bool) error {
	var err error
	if isNew {
		at := databaseProgress{LogIdentity: r.opt.Source.LogIdentity()}
		if err = f.createTablesAndSetMemoryPosition(ctx, at); err == nil {
			err = f.writePosition(ctx, at)
		}
	} else {
		last, _ := r.opt.Source.LastEntry()
		err = f.loadPositionNamesAndOpenSums(ctx, r.opt.Source.LogIdentity(), last)
	}
	if err == nil {
		err = f.openReadConnections()
	}
	return wrapIfRebuildHelps(err)
}

// followLog applies new log entries to the database until ctx ends or an error occurs. The
// context checksCtx ends its background checks.
func (r *Report) followLog(ctx, checksCtx context.Context, f *reportDatabase) error {
	from := f.position.seq
	if from > 0 {
		from++
	}
	log, err := r.opt.Source.NewReader(from)
	if errors.Is(err, wal.ErrGone) {
		return &rebuildNeededError{err}
	}
	if err != nil {
		return fmt.Errorf("cannot read the log to bring the report's database up to date: %w", err)
	}
	defer log.Close()
	r.startBackgroundCheck(checksCtx, f)
	checked := time.Now()
	for ctx.Err() == nil {
		select {
		case why := <-r.rebuilds:
			return &why
		default:
		}
		if err := f.checkFileNotReplaced(); err != nil {
			return &rebuildNeededError{err}
		}
		if !r.checkDiskSpaceAndUpdatePaused() {
			r.signals.Rest(ctx, r.opt.pollInterval)
			continue
		}
		more, err := r.readAndWriteBatch(ctx, f, log)
		if err != nil {
			return err
		}
		f.throttle.catchingUp = more
		if more {
			continue
		}
		if err := errors.Join(r.removeExpiredIfDue(ctx, f), f.checkpointIfDue(ctx)); err != nil {
			return err
		}
		if time.Since(checked) > r.opt.checkInterval {
			r.startBackgroundCheck(checksCtx, f)
			checked = time.Now()
		}
		r.signals.Rest(ctx, r.opt.pollInterval)
	}
	return nil
}

// checkDiskSpaceAndUpdatePaused reports whether the disk has enough free space for the report. If
// the answer has changed, it updates the status and logs the change.
func (r *Report) checkDiskSpaceAndUpdatePaused() (hasEnough bool) {
	hasSpace := r.opt.HasDiskSpace()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.Paused == hasSpace {
		r.status.Paused = !hasSpace
		if hasSpace {
			r.opt.Logger.Info("the report continues; there is enough free disk space again")
		} else {
			r.opt.Logger.Info("the report pauses while the disk has too little free space")
		}
	}
	return hasSpace
}

// readAndWriteBatch reads the available log entries, up to the size of a batch, and applies
// them in one transaction. mayHaveMore reports that the log may have more.
func (r *Report) readAndWriteBatch(ctx context.Context, f *reportDatabase, log LogReader) (mayHaveMore bool, err error) {
	ctx = context.WithoutCancel(ctx) // a batch is either written completely or not begun
	b := projection.NewChangeBatch(ctx, f, f.sources)
	b.HashContact = r.opt.HashContact
	decoder := event.Decoder{}
	for f.throttle.recordWorkStart(); !b.IsFull(); f.throttle.sleepIfDue() {
		entry, err := log.Next()
		if errors.Is(err, io.EOF) {
			return false, r.writeBatchAndUpdateStatus(ctx, f, b, r.opt.Now())
		}
		if errors.Is(err, wal.ErrGone) {
			return false, &rebuildNeededError{err}
		}
		if err != nil {
			return false, errors.Join(fmt.Errorf("cannot read the log to bring the report's database up to date: %w", err), r.writeBatchAndUpdateStatus(ctx, f, b, time.Time{}))
		}
		if f.position.seq == 0 && b.Entries == 0 && entry.Seq > 1 {
			f.position.begins = entry.At
		}
		fact, err := decoder.Decode(entry.Data)
		if err != nil {
			return false, fmt.Errorf("cannot read entry %d of the log for the report: %w", entry.Seq, err)
		}
		if err := b.ApplyEvent(entry.Seq, entry.At, fact); err != nil {
			return false, wrapIfRebuildHelps(err)
		}
	}
	return true, r.writeBatchAndUpdateStatus(ctx, f, b, time.Time{})
}

// writeBatchAndUpdateStatus writes a batch and publishes its position. endReadAt is when the batch read
// the log's end, and zero if it ended earlier.
func (r *Report) writeBatchAndUpdateStatus(ctx context.Context, f *reportDatabase, b *projection.ChangeBatch, endReadAt time.Time) error {
	if b.Entries > 0 {
		if err := f.writeBatchInTransaction(ctx, b, r.opt.Source.NameOf); err != nil {
			return wrapIfRebuildHelps(err)
		}
	}
	r.publishPosition(f, endReadAt)
	if b.Entries > 0 {
		return f.checkpointIfDue(ctx)
	}
	return nil
}

// publishPosition publishes the position of the database f after a batch. If the batch read the log's
// end, the database has all entries until endReadAt. More may have arrived while the batch was written.
func (r *Report) publishPosition(f *reportDatabase, endReadAt time.Time) {
	defer r.signals.NotifyProgress()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Seq, r.status.At = f.position.seq, f.position.at
	if !endReadAt.IsZero() {
		r.caughtUpAt = endReadAt
	}
}
