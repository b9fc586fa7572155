package backup

import (
	"cmp"
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

// Options configure a Shipper. Only To, the store, is required.
type Options struct {
	To  store.Store
	Key *Key // nil: unencrypted
	// Rate limits bulk transfers (the first copy, a backlog, snapshots) in bytes per
	// second; 0 means DefaultRate. New entries are not limited. A folder store also writes
	// a snapshot's pieces at this rate.
	Rate int64
	// Retain is the time during which a past moment can be restored; 0 means forever.
	Retain time.Duration
	Logger *slog.Logger

	now             func() time.Time
	pollInterval    time.Duration // between two reads of the log
	mergeAt         int           // bytes of log in a large object
	maxSmallObjects int           // number of small objects that are merged below mergeAt
	fenceInterval   time.Duration // between two checks of the fence
	expireInterval  time.Duration // between two removals of expired objects
}

// DefaultRate is the default of Options.Rate, in bytes per second.
const DefaultRate = 32 << 20

func (o Options) withDefaults() Options {
	o.pollInterval = cmp.Or(o.pollInterval, 400*time.Millisecond)
	o.fenceInterval = cmp.Or(o.fenceInterval, 5*time.Second)
	o.expireInterval = cmp.Or(o.expireInterval, time.Hour)
	o.mergeAt = cmp.Or(o.mergeAt, 8<<20)
	o.maxSmallObjects = cmp.Or(o.maxSmallObjects, 1000)
	o.Rate = cmp.Or(o.Rate, DefaultRate)
	o.Key = cmp.Or(o.Key, new(Key))
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

// Shipper backs up one exchange's folder to a store. One goroutine uses it; Status and Wake
// are safe for all goroutines. The caller must call Close.
//
// It runs a loop of steps (ship_once.go). Each step reads new log entries and ships them, after
// all files that they may refer to. The shipper can rebuild its memory from the store's
// listing and the folder. After an error it retries the step, and after a crash PrepareShipping
// finds the place to continue (resume.go).
type Shipper struct {
	src       SourceFolder
	opt       Options
	box       encryptedStore
	bulkStore store.Store // the same store for bulk transfers
	lock      *os.File
	pace      *rate.Limiter

	fence          shipperFence
	gen            *backupGeneration // nil before PrepareShipping
	epoch          uint32
	reader         *wal.Reader
	tail           logTail
	shippedKeys    map[string]shippedKeyFile // shipped key files by path
	storedKeys     map[string][]string
	erased         map[string]struct{}
	snapshotDone   chan error    // result of the goroutine that ships a snapshot; nil without one
	snapshotPieces pieceManifest // of that snapshot
	cancelSnapshot context.CancelFunc
	unusable       map[uint64]struct{} // damaged snapshots
	lastFenceCheck time.Time
	lastExpire     time.Time
	wakeup         chan struct{}

	status shippingProgress
}

// NewShipper returns a Shipper for the folder src. It locks the folder, so that no other
// process backs it up to the same place. It does not contact the store; the first step does.
func NewShipper(src SourceFolder, opt Options) (*Shipper, error) {
	opt = opt.withDefaults()
	if err := src.rejectStoreInside(opt.To); err != nil {
		return nil, err
	}
	soon, slow := opt.To, opt.To
	if dir, isFolder := opt.To.(*store.Dir); isFolder {
		soon = dir.WithFileWriter(func(f *os.File, data []byte) error { return wal.WritePaced(f, data, 0) })
		slow = dir.WithFileWriter(func(f *os.File, data []byte) error { return wal.WritePaced(f, data, opt.Rate) })
	}
	lock, err := src.lockForBackupTo(opt.To.String())
	if err != nil {
		return nil, err
	}
	s := &Shipper{
		src: src, opt: opt, lock: lock, box: encryptedStore{store: soon, key: opt.Key}, bulkStore: slow, unusable: map[uint64]struct{}{}, wakeup: make(chan struct{}, 1),
		pace: rate.NewLimiter(rate.Limit(opt.Rate), wal.PacedPiece),
	}
	s.status.caughtUp = opt.now()
	return s, nil
}

// PrepareShipping checks that this copy of the exchange may ship, creates a fence against other
// copies, and finds the place to continue. ShipOnce calls it if needed. The error is
// ErrFenced, ErrTakenOver, ErrDiverged, ErrForeign, ErrMixed, ErrChanged, or an error of the
// store or the folder.
func (s *Shipper) PrepareShipping(ctx context.Context) error {
	root, err := s.src.readExchangeKey()
	if err != nil {
		return err
	}
	s.stopAndForgetPosition()
	s.box.sumKey = deriveChecksumKey(root)
	if s.epoch, err = s.src.Epoch(); err != nil {
		return err
	}
	if err := s.loadKeyFileListUnlessForeign(ctx, root); err != nil {
		return err
	}
	all, err := s.box.readGenerations(ctx)
	if err != nil {
		return err
	}
	if _, err := s.box.readFencesUnlessSuperseded(ctx, s.epoch, all); err != nil {
		return err
	}
	gen, err := s.findResumableGeneration(all)
	if err != nil {
		return err
	}
	if s.fence, err = s.box.createNextFence(ctx, s.epoch, all, "backup", s.opt.now()); err != nil {
		return err
	}
	s.lastFenceCheck = s.opt.now()
	if gen == nil {
		gen, err = s.claimNewGeneration(ctx)
	}
	s.gen = gen
	return err
}

// stopAndForgetPosition stops the current work and forgets the position, so that the next step
// calls PrepareShipping again.
func (s *Shipper) stopAndForgetPosition() {
	s.stopShippingSnapshot()
	if s.reader != nil {
		s.reader.Close()
	}
	s.gen, s.reader, s.tail = nil, nil, logTail{}
}

// Close stops the shipper and releases its lock on the folder. It does not ship the remaining
// entries.
func (s *Shipper) Close() {
	s.stopAndForgetPosition()
	s.lock.Close()
}

// ShipAll ships everything that exists now, including snapshots, and removes expired objects.
// It returns an error if the backup could then not be restored.
func (s *Shipper) ShipAll(ctx context.Context) error {
	for {
		caughtUp, err := s.ShipOnce(ctx)
		if err != nil {
			return err
		}
		if caughtUp && s.snapshotDone == nil {
			if s.gen.completion == nil {
				return fmt.Errorf("the backup to %s cannot be restored: the log begins with entry %d, and %q has no snapshot for the entries before it", s.opt.To, s.gen.claim.First, s.src.Dir)
			}
			return s.removeExpiredObjects(ctx, true)
		}
		if caughtUp {
			if err := s.waitForAndRecordSnapshotResult(ctx); err != nil {
				return err
			}
		}
	}
}

// IsPermanent reports whether err means that this exchange may not back up to this place, so
// that a retry cannot succeed.
func IsPermanent(err error) bool {
	return errors.Is(err, ErrFenced) || errors.Is(err, ErrTakenOver) || errors.Is(err, ErrDiverged) || errors.Is(err, ErrForeign) || errors.Is(err, ErrMixed) || errors.Is(err, ErrChanged)
}

// Run ships new entries within a second, until ctx ends or a permanent error occurs
// (IsPermanent). It logs other errors and retries, at growing intervals of up to 30 seconds.
//
// When ctx ends, it also ends the shipping of a snapshot. ShipAll can then ship this snapshot from
// its beginning.
func (s *Shipper) Run(ctx context.Context) error {
	pause := time.Duration(0)
	for {
		caughtUp, err := s.ShipOnce(ctx)
		switch {
		case ctx.Err() != nil:
			s.stopShippingSnapshot()
			return nil //nolint:nilerr // the context ended, which is no failure
		case err != nil && IsPermanent(err):
			s.status.countFailure(err)
			return err
		case err != nil:
			pause = min(max(2*pause, time.Second), 30*time.Second)
			s.status.countFailure(err)
			s.opt.Logger.Warn("the backup failed and will be retried; the exchange continues", "to", s.opt.To.String(), "again_in", pause.String(), "error", err)
		case caughtUp:
			pause = s.opt.pollInterval
		default:
			pause = 0
		}
		select {
		case <-ctx.Done():
			s.stopShippingSnapshot()
			return nil
		case <-s.wakeup:
		case <-timer.After(pause):
		}
		if err == nil {
			pause = 0
		}
	}
}

// Wake makes Run take its next step now, even during the wait before a retry.
func (s *Shipper) Wake() {
	select {
	case s.wakeup <- struct{}{}:
	default:
	}
}

// openLogReader opens the log for reading at the next entry that the tail needs, unless it is
// open.
func (s *Shipper) openLogReader() error {
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

// nextLogEntry returns the next entry to ship, or io.EOF at the log's current end. After
// another error, the next call opens the log again.
func (s *Shipper) nextLogEntry() (wal.Entry, error) {
	if err := s.openLogReader(); err != nil {
		return wal.Entry{}, err
	}
	e, err := s.reader.Next()
	if err != nil && !errors.Is(err, io.EOF) {
		s.reader.Close()
		s.reader = nil
		err = fmt.Errorf("cannot read the log to back it up: %w", err)
	}
	return e, err
}
