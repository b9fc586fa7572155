package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/time/rate"

	"pingpost/internal/timer"
	"pingpost/wal"
	"pingpost/wal/backup/store"
)

// Options of a Shipper. To is required.
type Options struct {
	To  store.Store
	Key *Key // nil: unencrypted
	// Rate bounds what is shipped in bulk (the first copy, what was missed, snapshots),
	// in bytes a second; 0 means DefaultRate. What has just been logged is not held up.
	// A snapshot's pieces are written to a folder at this rate too, once they have been read.
	Rate int64
	// Retain is how long a moment can be restored after it has passed; 0 means for ever.
	Retain time.Duration
	Logger *slog.Logger

	now     func() time.Time
	every   time.Duration // between two looks at the log
	mergeAt int           // bytes of log that make one object
	tails   int           // small objects that are merged even so
	fences  time.Duration // between two looks at the fence
	expires time.Duration // between two removals of what is past Retain
}

// DefaultRate is in bytes a second.
const DefaultRate = 32 << 20

func (o Options) withDefaults() Options {
	orElse := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	orElse(&o.every, 400*time.Millisecond)
	orElse(&o.fences, 5*time.Second)
	orElse(&o.expires, time.Hour)
	if o.mergeAt == 0 {
		o.mergeAt = 8 << 20
	}
	if o.tails == 0 {
		o.tails = 1000
	}
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	if o.Key == nil {
		o.Key = new(Key)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

// A Shipper backs one folder up. One goroutine uses it; Status is for all. It has to
// end with Close.
//
// It is a loop of steps (step.go), each of which reads on in the log and puts what it
// found, after all that this may refer to. All that it knows it could learn again
// from the store's listing and the folder: after any error the place is kept and the
// step is tried again, and after a crash Begin finds it (resume.go).
type Shipper struct {
	src  Source
	opt  Options
	box  box
	slow store.Store // the same, for what nobody waits for
	lock *os.File
	pace *rate.Limiter

	fence     fence
	gen       *generation // nil before Begin
	epoch     uint32
	reader    *wal.Reader
	tail      tail
	held      map[string]keyFile // key files by path, as they were shipped
	stored    map[string][]string
	erased    map[string]struct{}
	bulk      chan error // of a snapshot that is being shipped; nil without one
	bulkNow   pieces     // which is being shipped
	stopBulk  context.CancelFunc
	unusable  map[uint64]struct{} // snapshots that are damaged
	fenceSeen time.Time
	swept     time.Time
	woken     chan struct{}

	status status
}

// NewShipper takes the folder's part of the place that it is backed up to. Nothing is
// read from the store before the first step.
func NewShipper(src Source, opt Options) (*Shipper, error) {
	opt = opt.withDefaults()
	if err := src.apart(opt.To); err != nil {
		return nil, err
	}
	soon, slow := opt.To, opt.To
	if dir, isFolder := opt.To.(*store.Dir); isFolder {
		soon = dir.FilledBy(func(f *os.File, data []byte) error { return wal.WritePaced(f, data, 0) })
		slow = dir.FilledBy(func(f *os.File, data []byte) error { return wal.WritePaced(f, data, opt.Rate) })
	}
	lock, err := src.lock(opt.To.String())
	if err != nil {
		return nil, err
	}
	s := &Shipper{
		src: src, opt: opt, lock: lock, box: box{store: soon, key: opt.Key}, slow: slow, unusable: map[uint64]struct{}{}, woken: make(chan struct{}, 1),
		pace: rate.NewLimiter(rate.Limit(opt.Rate), wal.PacedPiece),
	}
	s.status.caughtUp = opt.now()
	return s, nil
}

// Begin sees that this copy of the exchange may ship, claims the place, and finds
// where to go on. The error is ErrFenced, ErrDiverged, ErrForeign, ErrMixed, ErrChanged, or of the
// store. Steps do it too where it has not been done.
func (s *Shipper) Begin(ctx context.Context) error {
	root, err := s.src.root()
	if err != nil {
		return err
	}
	s.forget()
	s.box.names = namesKey(root)
	if s.epoch, err = s.src.Epoch(); err != nil {
		return err
	}
	if err := s.recallKeys(ctx, root); err != nil {
		return err
	}
	all, err := s.box.generations(ctx)
	if err != nil {
		return err
	}
	claimed, err := s.box.admits(ctx, s.epoch, all)
	if err != nil {
		return err
	}
	gen, err := s.resume(all)
	if err != nil {
		return err
	}
	if s.fence, err = s.box.raise(ctx, s.epoch, claimed, "backup", s.opt.now()); err != nil {
		return err
	}
	s.fenceSeen = s.opt.now()
	if gen == nil {
		gen, err = s.claim(ctx)
	}
	s.gen = gen
	return err
}

// forget makes the next step begin anew.
func (s *Shipper) forget() {
	s.endBulk()
	if s.reader != nil {
		s.reader.Close()
	}
	s.gen, s.reader, s.tail = nil, nil, tail{}
}

// Close gives back what the shipper holds. What was not shipped stays unshipped.
func (s *Shipper) Close() {
	s.forget()
	s.lock.Close()
}

// Once ships all that there is now, snapshots too, and makes the generation whole.
func (s *Shipper) Once(ctx context.Context) error {
	for {
		caughtUp, err := s.Step(ctx)
		if err != nil {
			return err
		}
		if caughtUp && s.bulk == nil {
			if s.gen.whole == nil {
				return fmt.Errorf("the backup to %s cannot be restored: the log begins with entry %d, and no snapshot in %q makes up for those before it", s.opt.To, s.gen.claim.First, s.src.Dir)
			}
			return s.expire(ctx, true)
		}
		if caughtUp {
			if err := s.awaitBulk(ctx); err != nil {
				return err
			}
		}
	}
}

// Stops tells whether an error is one that trying again does not mend.
func Stops(err error) bool {
	return errors.Is(err, ErrFenced) || errors.Is(err, ErrTakenOver) || errors.Is(err, ErrDiverged) || errors.Is(err, ErrForeign) || errors.Is(err, ErrMixed) || errors.Is(err, ErrChanged)
}

// Run ships what is logged, within a second, until the context ends or an error comes
// that trying again does not mend; any other is told, and tried again, ever more
// rarely up to twice a minute.
func (s *Shipper) Run(ctx context.Context) error {
	pause := time.Duration(0)
	for {
		caughtUp, err := s.Step(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was asked to end, and nothing else is wrong
		case err != nil && Stops(err):
			s.status.failed(err)
			return err
		case err != nil:
			pause = min(max(2*pause, time.Second), 30*time.Second)
			s.status.failed(err)
			s.opt.Logger.Warn("the backup failed and is tried again; the exchange goes on", "to", s.opt.To.String(), "again_in", pause.String(), "error", err)
		case caughtUp:
			pause = s.opt.every
		default:
			pause = 0
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.woken:
		case <-timer.After(pause):
		}
		if err == nil {
			pause = 0
		}
	}
}

// Wake has Run take its next step now, also where it waits to try again what failed.
func (s *Shipper) Wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// openLog opens the log where the tail goes on.
func (s *Shipper) openLog() error {
	if s.reader != nil {
		return nil
	}
	reader, err := s.src.NewReader(s.tail.due)
	if err != nil {
		return fmt.Errorf("cannot read the log to back it up: %w", err)
	}
	s.reader = reader
	return nil
}

// next is the next entry of the log; io.EOF at its present end. After another error the
// log is opened again.
func (s *Shipper) next() (wal.Entry, error) {
	if err := s.openLog(); err != nil {
		return wal.Entry{}, err
	}
	e, err := s.reader.Next()
	if err != nil && !errors.Is(err, io.EOF) {
		s.reader.Close()
		s.reader = nil
	}
	return e, err
}
