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

// diskMonitor measures the free disk space. The exchange refuses leads while less is free
// than twice the next snapshot plus a reserve, so that it can always finish and log the
// requests in flight. It accepts leads again automatically.
//
// The reserve belongs to the log. A snapshot never uses it: it does not begin if it would,
// and it stops if other programs or the log use the space meanwhile.
type diskMonitor struct {
	dir         string
	last        atomic.Uint64 // bytes of the newest snapshot
	expected    atomic.Uint64
	free        atomic.Uint64
	low         atomic.Bool
	logger      *slog.Logger
	lastWarning atomic.Int64 // Unix nanoseconds: time of the last warning
	warned      atomic.Bool  // a warning was logged, and the all-clear was not
}

const (
	// reserve is kept free for outcomes, operators' changes and other programs on the
	// machine.
	reserve = 64 << 20
	// diskInterval limits how much can be written between two measurements.
	diskInterval = 250 * time.Millisecond
	// diskWarnInterval is the least time between two warnings that leads are refused.
	diskWarnInterval = time.Minute
	// leadBytes and baseSnapshotBytes estimate the size of a snapshot: per lead, and for
	// everything else.
	leadBytes, baseSnapshotBytes = 220, 1 << 20
	// snapshotCheckBytes is how much a snapshot writes between two measurements.
	snapshotCheckBytes = 4 << 20
)

// errDiskLow ends a snapshot. The log is then kept instead.
var errDiskLow = errors.New("too little free disk space for a snapshot")

// startMeasuring measures the free space of a directory now and regularly until gone is closed.
func (s *diskMonitor) startMeasuring(dir string, logger *slog.Logger, gone <-chan struct{}) {
	s.dir, s.logger = dir, logger
	s.measureFree()
	go func() {
		ticker := time.NewTicker(diskInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.measureFree()
			case <-gone:
				return
			}
		}
	}()
}

// setExpectedSnapshot sets the expected size of the next snapshot.
func (s *diskMonitor) setExpectedSnapshot(bytes uint64) { s.expected.Store(bytes) }

// measureFree measures the free space, and decides whether leads are refused.
func (s *diskMonitor) measureFree() {
	free, err := wal.Free(s.dir)
	if err != nil {
		return // the log reports the problem itself
	}
	s.free.Store(free)
	needs := s.requiredFree()
	s.low.Store(free < needs)
	s.logSpaceLowOrRestored(time.Now(), free, needs)
}

// logSpaceLowOrRestored warns that leads are refused, at most once a minute. It logs later that leads
// are accepted again.
func (s *diskMonitor) logSpaceLowOrRestored(at time.Time, free, needed uint64) {
	now, lastWarning := at.UnixNano(), s.lastWarning.Load()
	switch {
	case free >= needed:
		if s.warned.Swap(false) {
			s.logger.Info("there is enough free disk space again; leads are accepted", "free", free)
		}
	case now-lastWarning >= int64(diskWarnInterval) && s.lastWarning.CompareAndSwap(lastWarning, now):
		s.warned.Store(true)
		s.logger.Warn("the free disk space is low; leads are refused until there is more", "free", free, "needed", needed)
	}
}

// requiredFree returns how much must be free for leads to be accepted.
func (s *diskMonitor) requiredFree() uint64 { return reserve + 2*s.expected.Load() }

// measureRoomFor measures, and reports whether so many bytes can be written without the
// reserve.
func (s *diskMonitor) measureRoomFor(bytes uint64) bool {
	s.measureFree()
	return s.free.Load() >= reserve+bytes
}

// hasSpareForBackground reports whether background tasks may write. They stop long before leads are
// refused.
func (s *diskMonitor) hasSpareForBackground() bool { return s.free.Load() >= s.requiredFree()+reserve }

// estimateSnapshotSize estimates the next snapshot: at least the size of the last one, and at
// least the estimate for the current leads.
func (x *Exchange) estimateSnapshotSize() uint64 {
	return max(x.disk.last.Load(), uint64(x.state.LeadCount())*leadBytes+baseSnapshotBytes)
}

// reserveWriter is a snapshot's writer. It fails as soon as the free space drops below the
// reserve.
type reserveWriter struct {
	to      io.Writer
	monitor *diskMonitor
	unseen  int // bytes since the last measurement
}

func (y *reserveWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if y.unseen >= snapshotCheckBytes {
			if y.unseen = 0; !y.monitor.measureRoomFor(0) {
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

// Above one of maxQueueDelay, maxQueueEntries and maxQueueBytes, the log's backlog is too
// long, and the exchange refuses leads.
const (
	maxQueueDelay   = time.Second
	maxQueueEntries = 4096
	maxQueueBytes   = 16 << 20
	// maxOpenPosts limits the open deliveries.
	maxOpenPosts = 20_000
	// maxOutcomeBytes bounds the log record of an outcome: ids, codes and charges.
	maxOutcomeBytes = 16 << 10
)

// logQueueLimits returns the size of the log's queue. An outcome must never wait for a
// place. So the queue has monitor for the entries that were queued when the exchange began to
// refuse leads, and for all that may still follow. These are one lead per connection that
// was admitted before, with its post, and one outcome per open delivery. Neither has two
// events in flight. The queued data is memory that the waiting requests hold anyway; the
// queue adds one slot for each.
func logQueueLimits(l *config.LimitSettings) (entries, bytes int) {
	entries = maxQueueEntries + l.Connections + maxOpenPosts
	lead := min(2*int64(l.Body)+maxOutcomeBytes, wal.MaxEntry)
	all := maxQueueBytes + int64(l.Connections)*lead + maxOpenPosts*maxOutcomeBytes
	return entries, int(min(all, math.MaxInt))
}

// checkAcceptsLeads returns an error if the disk is low or the log has a long backlog. The engine
// calls it before it reserves anything.
func (x *Exchange) checkAcceptsLeads() error {
	if x.disk.low.Load() || x.draining.Load() || isLogBehind(x.log.Stats()) {
		return engine.ErrUnavailable
	}
	return nil
}

// isLogBehind reports whether the log's backlog is above a limit.
func isLogBehind(log wal.Stats) bool {
	return log.QueueDelay > maxQueueDelay || log.Queued > maxQueueEntries || log.QueuedBytes > maxQueueBytes
}
