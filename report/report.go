package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"modernc.org/sqlite"

	"pingpost/engine/event"
	"pingpost/internal/timer"
	"pingpost/report/catchup"
	"pingpost/report/projection"
)

// Options configure a Report. Dir and Source are required.
type Options struct {
	Dir       string // a folder for its files only
	Source    LogAndConfiguredNames
	Retention time.Duration // age at which data is removed; 0: never
	// HashContact returns the hashes by which FindLeadsOfPerson finds a lead; nil: it finds none.
	HashContact func(*event.LeadDecided) []projection.ContactHash
	// HasDiskSpace reports whether the disk has enough space to continue; nil: always.
	HasDiskSpace func() bool
	Now          func() time.Time
	Logger       *slog.Logger

	pollInterval  time.Duration // between two reads at the log's end
	retryDelay    time.Duration // first delay after an error
	checkInterval time.Duration // between two checks of the whole file
	sweepInterval time.Duration // between two removals of data older than Retention
	limits        queryLimits
	maxOpenSums   int // sums of unfinished units in memory
}

func (o Options) withDefaults() Options {
	o.pollInterval = cmp.Or(o.pollInterval, 250*time.Millisecond)
	o.retryDelay = cmp.Or(o.retryDelay, time.Second)
	o.checkInterval = cmp.Or(o.checkInterval, 6*time.Hour)
	o.sweepInterval = cmp.Or(o.sweepInterval, 10*time.Minute)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.maxOpenSums = cmp.Or(o.maxOpenSums, defaultMaxOpenSums)
	o.limits = cmp.Or(o.limits, defaultLimits)
	if o.HasDiskSpace == nil {
		o.HasDiskSpace = func() bool { return true }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Report follows one log and keeps a database of its figures, which answers questions. One
// goroutine calls Run; any goroutine may call the other methods.
type Report struct {
	opt        Options
	fileNumber int                     // of the newest file
	rebuilds   chan rebuildNeededError // receives the reason for a rebuild
	lastSweep  time.Time               // when old data was last removed
	checkSlot  chan struct{}           // holds a value during a check
	signals    *catchup.Signals

	mu         sync.Mutex
	file       *reportDatabase // answers questions; nil: no file now
	status     ProgressStatus
	caughtUpAt time.Time // the file has all entries until this time; zero: unknown
}

// New returns a report. The report starts with Run.
func New(opt Options) *Report {
	return &Report{opt: opt.withDefaults(), rebuilds: make(chan rebuildNeededError, 1), checkSlot: make(chan struct{}, 1), signals: catchup.New()}
}

// ProgressStatus says how far a report has followed the log, whether it pauses for lack of
// disk space, and how many rebuilds and errors it had since the process started.
type ProgressStatus struct {
	Seq        uint64 // last applied entry
	At         int64  // time of that entry, Unix nanoseconds
	LagEntries uint64
	Lag        time.Duration // how long the oldest missing entry has existed
	Paused     bool          // because of too little disk space
	Rebuilds   uint64        // since the process started
	Errors     uint64
}

// ProgressStatus returns how far the report has followed the log. It is fast enough to call
// often.
func (r *Report) ProgressStatus() ProgressStatus {
	last, _ := r.opt.Source.LastEntry()
	r.mu.Lock()
	s := r.status
	r.mu.Unlock()
	s.LagEntries = last - min(last, s.Seq)
	s.Lag = r.lag(s.Seq, s.At)
	return s
}

// lag returns how far the report is behind the log. It is 0 if entry seq is the last one.
// Otherwise it counts from the time until which the database has all entries, or from time `at` of
// entry seq if that is later.
func (r *Report) lag(seq uint64, at int64) time.Duration {
	if last, _ := r.opt.Source.LastEntry(); seq >= last {
		return 0
	}
	r.mu.Lock()
	caught := r.caughtUpAt
	r.mu.Unlock()
	if last := time.Unix(0, at); last.After(caught) {
		caught = last
	}
	return max(0, r.opt.Now().Sub(caught))
}

// newestWait limits the wait for the newest entries. A page of the dashboard has 300 ms in total.
const newestWait = 150 * time.Millisecond

// WaitBrieflyForNewestEntries lets a question about the time before untilNanos see all entries that
// the log has now. It wakes the follower and waits until it has applied them, at most for newestWait. The
// zero time means the present. A question about an earlier time than that of the last applied entry
// does not wait. hasNewest is false if entries are still missing, for example during a rebuild.
func (r *Report) WaitBrieflyForNewestEntries(ctx context.Context, untilNanos int64) (hasNewest bool) {
	last, _ := r.opt.Source.LastEntry()
	r.signals.WakeWriterAndWait(ctx, newestWait, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		hasNewest = r.file != nil && (r.status.Seq >= last || untilNanos != 0 && untilNanos <= r.status.At)
		return hasNewest || r.status.Paused
	})
	return hasNewest
}

// errRequested is the reason of a rebuild by request.
var errRequested = errors.New("a rebuild was requested")

// RequestRebuild requests that the database is deleted and built again, as far back as the log
// goes. It does not wait for that.
func (r *Report) RequestRebuild() { r.requestRebuildBecause(errRequested) }

func (r *Report) requestRebuildBecause(cause error) {
	select {
	case r.rebuilds <- rebuildNeededError{cause}:
	default: // a rebuild is pending already
	}
}

// rebuildNeededError is an error of the database that only a rebuild can resolve.
type rebuildNeededError struct{ cause error }

func (e *rebuildNeededError) Error() string { return e.cause.Error() }
func (e *rebuildNeededError) Unwrap() error { return e.cause }

// wrapIfRebuildHelps wraps err in a rebuildNeededError, unless err is a cancellation or an SQLite
// error that waiting can resolve, such as a full disk or another program's lock.
func wrapIfRebuildHelps(err error) error {
	var theirs *sqlite.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &theirs) && isTransientSQLiteCode(theirs.Code()):
		return err
	}
	return &rebuildNeededError{err}
}

// noTempPath is SQLITE_IOERR_GETTEMPPATH.
const noTempPath = 10 | 25<<8

// isTransientSQLiteCode reports whether an SQLite result code means a problem that waiting can
// resolve. These are busy, locked, interrupted, out of memory, disk full, no descriptors, and
// no folder for sorting.
func isTransientSQLiteCode(sqliteCode int) bool {
	if sqliteCode == noTempPath {
		return true
	}
	switch sqliteCode & 0xff {
	case 5, 6, 7, 9, 13, 14:
		return true
	}
	return false
}

// Run follows the log until ctx ends. After a failure of the database it opens or rebuilds
// the database, and continues.
func (r *Report) Run(ctx context.Context) {
	pause, began := time.Duration(0), time.Now()
	for {
		err := r.openAndFollowLog(ctx)
		if ctx.Err() != nil {
			return
		}
		var spoilt *rebuildNeededError
		if errors.As(err, &spoilt) {
			err = r.deleteDatabasesForRebuild(spoilt.cause)
		} else {
			r.opt.Logger.Warn("the report failed and is retried; the exchange is not affected", "error", err)
		}
		if time.Since(began) > 30*r.opt.retryDelay { // it worked for a while
			pause = 0
		}
		if err != nil {
			r.countError()
			pause = min(max(2*pause, r.opt.retryDelay), 30*r.opt.retryDelay)
			sleepUnlessDone(ctx, pause)
		}
		began = time.Now()
	}
}

func (r *Report) countError() {
	r.mu.Lock()
	r.status.Errors++
	r.mu.Unlock()
}

// deleteDatabasesForRebuild deletes all of the report's database files, so that a new one is built. It
// logs the reason and returns it. It returns nil if the reason is no failure: an operator's request, or
// a database of another log or program version. If it cannot delete a file, it returns that error.
func (r *Report) deleteDatabasesForRebuild(reason error) (failureOrNil error) {
	level := slog.LevelWarn
	isFailure := !errors.Is(reason, errRequested) && !errors.Is(reason, errUnusable)
	if !isFailure {
		level = slog.LevelInfo
	}
	r.opt.Logger.Log(context.Background(), level, "the report is rebuilt from the log; the exchange is not affected", "reason", reason)
	r.mu.Lock()
	r.status.Rebuilds++
	r.status.Seq, r.status.At, r.caughtUpAt = 0, 0, time.Time{}
	r.mu.Unlock()
	_, all, err := listDatabaseFiles(r.opt.Dir)
	for _, path := range all {
		err = errors.Join(err, removeDatabaseFiles(path))
	}
	if err != nil {
		return fmt.Errorf("cannot remove the report's database: %w", err)
	}
	if !isFailure {
		return nil
	}
	return reason
}

// openAndFollowLog opens the database and follows the log. It converts a panic to an
// error, because a damaged file must not stop the exchange. After a panic it leaves the file
// unclosed, since the library may still hold its locks.
func (r *Report) openAndFollowLog(ctx context.Context) (err error) {
	var f *reportDatabase
	checks, cancel := context.WithCancel(ctx)
	defer func() {
		r.setServedDatabase(nil)
		cancel()
		r.checkSlot <- struct{}{} // waits for the end of the last check
		<-r.checkSlot
		if cause := recover(); cause != nil {
			err = &rebuildNeededError{fmt.Errorf("the database library failed (panic) on the report's database, probably because its file is damaged; the exchange builds it again from the log: %v", cause)}
			return
		}
		if f != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if f, err = r.openNewestDatabaseOrCreateIfNone(ctx); err != nil {
		return err
	}
	r.setServedDatabase(f)
	return r.followLog(ctx, checks, f)
}

// setServedDatabase sets the database that answers questions. With nil, questions get a
// *NotFollowedYetError.
func (r *Report) setServedDatabase(f *reportDatabase) {
	defer r.signals.NotifyProgress()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file = f; f != nil {
		r.status.Seq, r.status.At = f.position.seq, f.position.at
	}
}

func sleepUnlessDone(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-timer.After(d):
	}
}
