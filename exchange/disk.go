package exchange

import (
	"errors"
	"io"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"pingpost/config"
	"pingpost/engine"
	"pingpost/wal"
)

// space watches the disk. A full one is seen ahead: leads are refused while
// less is free than twice the next snapshot and a reserve, so that what was begun
// can always be finished and logged. All resumes by itself.
//
// The reserve is the log's. A snapshot never touches it: none begins that would,
// and one under way gives way, as other programs and the log go on meanwhile.
type diskMonitor struct {
	dir      string
	last     atomic.Uint64 // bytes of the newest snapshot
	expected atomic.Uint64
	free     atomic.Uint64
	low      atomic.Bool
	logger   *slog.Logger
	told     atomic.Int64 // Unix nanoseconds: when it was last told that there is little
	warned   atomic.Bool  // and not yet that there is room again
}

const (
	// reserve is kept for outcomes, operators and the programs beside us.
	reserve = 64 << 20
	// diskInterval bounds how much can be written between two looks.
	diskInterval = 250 * time.Millisecond
	// diskWarnInterval is how often the log tells that leads are refused.
	diskWarnInterval = time.Minute
	// A snapshot has about so many bytes for each lead, and for all the rest.
	leadBytes, baseSnapshotBytes = 220, 1 << 20
	// snapshotCheckBytes is how much a snapshot writes between two looks.
	snapshotCheckBytes = 4 << 20
)

// errDiskLow ends a snapshot. The log is then kept, and does in its place.
var errDiskLow = errors.New("there is too little room on the disk for a snapshot")

func (s *diskMonitor) start(dir string, logger *slog.Logger, gone <-chan struct{}) {
	s.dir, s.logger = dir, logger
	s.measure()
	go func() {
		ticker := time.NewTicker(diskInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.measure()
			case <-gone:
				return
			}
		}
	}()
}

// expect says how large the next snapshot may become.
func (s *diskMonitor) setExpected(bytes uint64) { s.expected.Store(bytes) }

func (s *diskMonitor) measure() {
	free, err := wal.Free(s.dir)
	if err != nil {
		return // the log itself will say so, in its own words
	}
	s.free.Store(free)
	needs := s.required()
	s.low.Store(free < needs)
	s.logChange(time.Now(), free, needs)
}

// tell writes into the log that leads are refused, at most once a minute however
// often that changes, and after it that they are taken again.
func (s *diskMonitor) logChange(at time.Time, free, needs uint64) {
	now, told := at.UnixNano(), s.told.Load()
	switch {
	case free >= needs:
		if s.warned.Swap(false) {
			s.logger.Info("there is room on the disk again; leads are taken", "free", free)
		}
	case now-told >= int64(diskWarnInterval) && s.told.CompareAndSwap(told, now):
		s.warned.Store(true)
		s.logger.Warn("there is little room on the disk; leads are refused until there is more", "free", free, "needed", needs)
	}
}

// needs is what must be free for leads to be taken.
func (s *diskMonitor) required() uint64 { return reserve + 2*s.expected.Load() }

// holds looks, and tells whether so much can be written without the reserve.
func (s *diskMonitor) hasRoomFor(bytes uint64) bool {
	s.measure()
	return s.free.Load() >= reserve+bytes
}

// spare tells whether there is room for what can wait: it ends long before leads are
// refused.
func (s *diskMonitor) hasSpare() bool { return s.free.Load() >= s.required()+reserve }

// snapshotSize is how large the next snapshot may become: no smaller than the
// last one, and no smaller than what the leads of now take.
func (x *Exchange) snapshotSize() uint64 {
	return max(x.disk.last.Load(), uint64(x.state.LeadCount())*leadBytes+baseSnapshotBytes)
}

// reserveWriter is a snapshot's writer that gives way to the log: it fails once the
// reserve is touched.
type reserveWriter struct {
	to     io.Writer
	room   *diskMonitor
	unseen int // bytes since the last look
}

func (y *reserveWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if y.unseen >= snapshotCheckBytes {
			if y.unseen = 0; !y.room.hasRoomFor(0) {
				return n, errDiskLow
			}
		}
		m, err := y.to.Write(p[n:min(len(p), n+snapshotCheckBytes-y.unseen)])
		n, y.unseen = n+m, y.unseen+m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// maxQueueDelay, maxQueueEntries and maxQueueBytes are how far behind the log may be
// before leads are refused.
const (
	maxQueueDelay   = time.Second
	maxQueueEntries = 4096
	maxQueueBytes   = 16 << 20
	// maxOpenPosts is how many deliveries may be open.
	maxOpenPosts = 20_000
	// maxOutcomeBytes bounds what is logged of an outcome: ids, codes and charges.
	maxOutcomeBytes = 16 << 10
)

// logQueueLimits is what the log's queue holds. An outcome that found it full would have
// to wait, so it has room for what was queued when leads began to be refused, and
// beyond it for all that may come still: for each connection one lead that had
// been admitted before, as it came and as it is posted, and for each open delivery
// its outcome. Neither has two facts under way at once. What is queued is memory
// of those who wait, which they have in any case: the queue adds a slot for each.
func logQueueLimits(l *config.LimitSettings) (entries, bytes int) {
	entries = maxQueueEntries + l.Connections + maxOpenPosts
	lead := min(2*int64(l.Body)+maxOutcomeBytes, wal.MaxEntry)
	all := maxQueueBytes + int64(l.Connections)*lead + maxOpenPosts*maxOutcomeBytes
	return entries, int(min(all, math.MaxInt))
}

// admit refuses intake ahead of trouble: too little disk, or a log that is far
// behind. The engine asks it before it reserves anything.
func (x *Exchange) admit() error {
	if x.disk.low.Load() || x.draining.Load() || behind(x.log.Stats()) {
		return engine.ErrUnavailable
	}
	return nil
}

// behind tells whether the log has more to do than it should be given more.
func behind(log wal.Stats) bool {
	return log.QueueDelay > maxQueueDelay || log.Queued > maxQueueEntries || log.QueuedBytes > maxQueueBytes
}
