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

// openOrCreateFile opens the report's newest database, or creates one. It removes older ones.
func (r *Report) openOrCreateFile(ctx context.Context) (*reportFile, error) {
	if err := os.MkdirAll(r.opt.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the report's folder: %w", err)
	}
	highest, all, err := listReportFiles(r.opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the report's folder: %w", err)
	}
	for n, path := range all {
		if n != highest {
			err = errors.Join(err, removeFile(path))
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
		return nil, fmt.Errorf("cannot remove old files from the report's folder: %w", err)
	}
	f, err := openDatabase(ctx, filepath.Join(dir, strconv.Itoa(r.fileNumber)+suffix))
	if err != nil {
		return nil, fmt.Errorf("cannot open the report's database: %w", classifyOpenError(err))
	}
	f.openSums.limit = r.opt.maxOpenSums
	if err := r.prepareFile(ctx, f, fresh); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// classifyOpenError decides whether a new database can resolve an error of opening one. It
// cannot if the operating system refused access; other errors go to classifySQLiteError.
func classifyOpenError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return err
	}
	return classifySQLiteError(err)
}

func (r *Report) prepareFile(ctx context.Context, f *reportFile, fresh bool) error {
	var err error
	if fresh {
		at := filePosition{Life: r.opt.Source.Life()}
		if err = f.createTables(ctx, at); err == nil {
			err = f.writePosition(ctx, at)
		}
	} else {
		durable, _ := r.opt.Source.Durable()
		err = f.loadPosition(ctx, r.opt.Source.Life(), durable)
	}
	if err == nil {
		err = f.openReadConnections()
	}
	return classifySQLiteError(err)
}

// followLog applies new log entries to the database until an error occurs. The context
// `checks` ends its background checks.
func (r *Report) followLog(ctx, checks context.Context, f *reportFile) error {
	from := f.position.seq
	if from > 0 {
		from++
	}
	log, err := r.opt.Source.NewReader(from)
	if errors.Is(err, wal.ErrGone) {
		return &rebuildError{err}
	}
	if err != nil {
		return fmt.Errorf("cannot read the log to bring the report's database up to date: %w", err)
	}
	defer log.Close()
	r.startBackgroundCheck(checks, f)
	checked := time.Now()
	for ctx.Err() == nil {
		select {
		case why := <-r.rebuilds:
			return &why
		default:
		}
		if err := f.checkNotReplaced(); err != nil {
			return &rebuildError{err}
		}
		if !r.hasDiskSpace() {
			sleepUnlessDone(ctx, r.opt.pollInterval)
			continue
		}
		more, err := r.applyBatch(ctx, f, log)
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
			r.startBackgroundCheck(checks, f)
			checked = time.Now()
		}
		sleepUnlessDone(ctx, r.opt.pollInterval)
	}
	return nil
}

// hasDiskSpace reports whether the disk has enough free space for the report. It records and
// logs a change.
func (r *Report) hasDiskSpace() bool {
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

// applyBatch reads the available log entries, up to the size of a batch, and applies them in
// one transaction. more reports that the log may have more.
func (r *Report) applyBatch(ctx context.Context, f *reportFile, log Reader) (more bool, err error) {
	ctx = context.WithoutCancel(ctx) // a batch is either written completely or not begun
	b := projection.NewBatch(ctx, f, f.sources)
	decoder := event.Decoder{}
	for f.throttle.startWork(); !b.IsFull(); f.throttle.restIfDue() {
		entry, err := log.Next()
		if errors.Is(err, io.EOF) {
			return false, r.writeBatch(ctx, f, b)
		}
		if errors.Is(err, wal.ErrGone) {
			return false, &rebuildError{err}
		}
		if err != nil {
			return false, errors.Join(fmt.Errorf("cannot read the log to bring the report's database up to date: %w", err), r.writeBatch(ctx, f, b))
		}
		if f.position.seq == 0 && b.Entries == 0 && entry.Seq > 1 {
			f.position.begins = entry.At
		}
		fact, err := decoder.Decode(entry.Data)
		if err != nil {
			return false, fmt.Errorf("cannot read entry %d of the log for the report: %w", entry.Seq, err)
		}
		if err := b.Apply(entry.Seq, entry.At, fact); err != nil {
			return false, classifySQLiteError(err)
		}
	}
	return true, r.writeBatch(ctx, f, b)
}

func (r *Report) writeBatch(ctx context.Context, f *reportFile, b *projection.Batch) error {
	if b.Entries > 0 {
		if err := f.writeProjectedBatch(ctx, b, r.opt.Source.NameOf); err != nil {
			return classifySQLiteError(err)
		}
		if err := f.checkpointIfDue(ctx); err != nil {
			return err
		}
	}
	durable, _ := r.opt.Source.Durable()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Seq, r.status.At = f.position.seq, f.position.at
	if r.status.Seq >= durable {
		r.caughtUpAt = r.opt.Now()
	}
	return nil
}
