package report

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"modernc.org/sqlite"

	"pingpost/internal/timer"
)

// Options of a Report. Dir and Source are required.
type Options struct {
	Dir       string // for its files alone
	Source    Source
	Retention time.Duration // how long what happened is kept; 0: for ever
	// Room tells whether there is so much room on the disk that the report may go on;
	// nil: always.
	HasDiskSpace func() bool
	Now          func() time.Time
	Logger       *slog.Logger

	pollInterval  time.Duration // between two looks at the log's end
	retryDelay    time.Duration // after an error, at first
	checkInterval time.Duration // between two checks of the whole file
	sweepInterval time.Duration // between two removals of what is past Keep
	limits        answerLimits
	maxOpenSums   int // sums that are not over
}

func (o Options) withDefaults() Options {
	orElse := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	orElse(&o.pollInterval, 250*time.Millisecond)
	orElse(&o.retryDelay, time.Second)
	orElse(&o.checkInterval, 6*time.Hour)
	orElse(&o.sweepInterval, 10*time.Minute)
	if o.HasDiskSpace == nil {
		o.HasDiskSpace = func() bool { return true }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.maxOpenSums == 0 {
		o.maxOpenSums = defaultMaxOpenSums
	}
	if o.limits == (answerLimits{}) {
		o.limits = defaultLimits
	}
	return o
}

// A Report follows one log. Run is for one goroutine, all else for any.
type Report struct {
	opt        Options
	fileNumber int               // of the newest file
	rebuilds   chan rebuildError // gets why the file has to be built anew
	lastSweep  time.Time         // when what is past Keep was last removed
	checkSlot  chan struct{}     // has a place while no check is under way

	mu         sync.Mutex
	file       *file // that is asked; nil: there is none now
	status     Status
	caughtUpAt time.Time // when it last had all
}

// New makes a report that Run begins.
func New(opt Options) *Report {
	return &Report{opt: opt.withDefaults(), rebuilds: make(chan rebuildError, 1), checkSlot: make(chan struct{}, 1)}
}

// Status is how a report stands.
type Status struct {
	Seq        uint64 // last entry that it has
	At         int64  // and its time, Unix nanoseconds
	LagEntries uint64
	Lag        time.Duration // for how long there has been what it lacks
	Paused     bool          // for want of room on the disk
	Rebuilds   uint64        // since this process began
	Errors     uint64
}

// Status returns it. It is cheap.
func (r *Report) Status() Status {
	durable, _ := r.opt.Source.Durable()
	r.mu.Lock()
	s := r.status
	r.mu.Unlock()
	s.LagEntries = durable - min(durable, s.Seq)
	s.Lag = r.lag(s.Seq, s.At)
	return s
}

// lag is for how long there is what a file lacks that has reached an entry: since it
// last had all, else since that entry's time, else since ever.
func (r *Report) lag(seq uint64, at int64) time.Duration {
	if durable, _ := r.opt.Source.Durable(); seq >= durable {
		return 0
	}
	r.mu.Lock()
	caught := r.caughtUpAt
	r.mu.Unlock()
	if caught.IsZero() {
		caught = time.Unix(0, at)
	}
	return max(0, r.opt.Now().Sub(caught))
}

// errAsked is why a rebuild is one that somebody asked for.
var errRequested = errors.New("it was asked for")

// Rebuild throws the file away and builds it anew, as far back as the log goes. It
// returns at once.
func (r *Report) Rebuild() { r.requestRebuild(errRequested) }

func (r *Report) requestRebuild(why error) {
	select {
	case r.rebuilds <- rebuildError{why}:
	default: // it is to be built anew already
	}
}

// spoiltError is of a file that has to be built anew.
type rebuildError struct{ cause error }

func (e *rebuildError) Error() string { return e.cause.Error() }
func (e *rebuildError) Unwrap() error { return e.cause }

// spoils judges an error that SQLite gave. A full disk, and a file that somebody else
// has locked, are no fault of the file.
func classify(err error) error {
	var theirs *sqlite.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &theirs) && isTransient(theirs.Code()):
		return err
	}
	return &rebuildError{err}
}

// noTempPath is SQLITE_IOERR_GETTEMPPATH.
const noTempPath = 10 | 25<<8

// passes tells by SQLite's result codes whether to wait mends it: busy, locked,
// interrupted, out of memory, full, out of descriptors, no folder for what is sorted.
func isTransient(code int) bool {
	if code == noTempPath {
		return true
	}
	switch code & 0xff {
	case 5, 6, 7, 9, 13, 14:
		return true
	}
	return false
}

// Run follows the log until the context ends. Whatever happens to the file, it goes on.
func (r *Report) Run(ctx context.Context) {
	pause, began := time.Duration(0), time.Now()
	for {
		err := r.followRecovering(ctx)
		if ctx.Err() != nil {
			return
		}
		var spoilt *rebuildError
		if errors.As(err, &spoilt) {
			err = r.discardFile(spoilt.cause)
		} else {
			r.opt.Logger.Warn("the report cannot go on and is tried again; the exchange goes on", "error", err)
		}
		if err != nil {
			r.countError()
		}
		if time.Since(began) > 30*r.opt.retryDelay { // it went well for a while
			pause = 0
		}
		if !errors.Is(err, errRequested) {
			pause = min(max(2*pause, r.opt.retryDelay), 30*r.opt.retryDelay)
			sleep(ctx, pause)
		}
		began = time.Now()
	}
}

func (r *Report) countError() {
	r.mu.Lock()
	r.status.Errors++
	r.mu.Unlock()
}

// discard removes the file that is in use.
func (r *Report) discardFile(why error) error {
	level := slog.LevelWarn
	if errors.Is(why, errRequested) || errors.Is(why, errUnusable) {
		level = slog.LevelInfo
	}
	r.opt.Logger.Log(context.Background(), level, "the report is built anew from the log; the exchange goes on", "because", why)
	r.mu.Lock()
	r.status.Rebuilds++
	r.status.Seq, r.status.At, r.caughtUpAt = 0, 0, time.Time{}
	r.mu.Unlock()
	_, all, err := listFiles(r.opt.Dir)
	for _, path := range all {
		err = errors.Join(err, removeFile(path))
	}
	if err != nil {
		return fmt.Errorf("cannot remove the report's file: %w", err)
	}
	if errors.Is(why, errRequested) || errors.Is(why, errUnusable) {
		return errRequested // nothing has failed
	}
	return why
}

// guarded follows, and takes a panic for an error: a damaged file must not take the
// exchange with it. What the library has locked then stays so, and its file is left to
// itself.
func (r *Report) followRecovering(ctx context.Context) (err error) {
	var f *file
	checks, cancel := context.WithCancel(ctx)
	defer func() {
		r.setFile(nil)
		cancel()
		r.checkSlot <- struct{}{} // the last check has ended
		<-r.checkSlot
		if cause := recover(); cause != nil {
			err = &rebuildError{fmt.Errorf("what reads its file broke down: %v", cause)}
			return
		}
		if f != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if f, err = r.open(ctx); err != nil {
		return err
	}
	r.setFile(f)
	return r.follow(ctx, checks, f)
}

// show says which file is asked.
func (r *Report) setFile(f *file) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file = f; f != nil {
		r.status.Seq, r.status.At = f.position.seq, f.position.at
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-timer.After(d):
	}
}
