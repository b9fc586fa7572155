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

// diskMonitor measures the free disk space every 250 milliseconds, and sets low while leads
// must be refused. Leads are refused while less is free than twice the next snapshot plus a
// reserve. This way the exchange can always finish and log the requests in flight. It accepts
// leads again as soon as there is enough space.
//
// The reserve belongs to the log. A snapshot does not begin if it would need the reserve. It
// stops if other programs or the log use up the space meanwhile.
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

// errDiskLow says that a snapshot or an uploaded suppression list was not written, because it would
// use the disk space reserved for the log. Without the snapshot, the exchange keeps the log that the
// snapshot would have replaced.
var errDiskLow = errors.New("too little free disk space: the rest is reserved for the exchange's log; free some space")

// startMeasuring measures the free disk space of the folder dir now, and then regularly in the
// background until the channel stopped is closed.
func (s *diskMonitor) startMeasuring(dir string, logger *slog.Logger, stopped <-chan struct{}) {
	s.dir, s.logger = dir, logger
	s.updateFreeSpace()
	go func() {
		ticker := time.NewTicker(diskInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.updateFreeSpace()
			case <-stopped:
				return
			}
		}
	}()
}

// setExpectedSnapshotSize sets the expected size of the next snapshot. The space that must be free
// for accepting leads depends on it.
func (s *diskMonitor) setExpectedSnapshotSize(bytes uint64) { s.expected.Store(bytes) }

// updateFreeSpace measures the free disk space, stores it, and sets low if the exchange must refuse
// leads. If the measurement fails, the earlier values stay.
func (s *diskMonitor) updateFreeSpace() {
	free, err := wal.FreeDiskSpace(s.dir)
	if err != nil {
		return // the log reports the problem itself
	}
	s.free.Store(free)
	needs := s.bytesNeededToAcceptLeads()
	s.low.Store(free < needs)
	s.logSpaceLowOrRestored(time.Now(), free, needs)
}

// logSpaceLowOrRestored logs a warning, at most once a minute, while freeBytes is less than
// neededBytes and the exchange therefore refuses leads. It logs once when the space suffices again.
// currentTime is the current time.
func (s *diskMonitor) logSpaceLowOrRestored(currentTime time.Time, freeBytes, neededBytes uint64) {
	now, lastWarning := currentTime.UnixNano(), s.lastWarning.Load()
	switch {
	case freeBytes >= neededBytes:
		if s.warned.Swap(false) {
			s.logger.Info("there is enough free disk space again; leads are accepted", "free", freeBytes)
		}
	case now-lastWarning >= int64(diskWarnInterval) && s.lastWarning.CompareAndSwap(lastWarning, now):
		s.warned.Store(true)
		s.logger.Warn("the free disk space is low; leads are refused until there is more", "free", freeBytes, "needed", neededBytes)
	}
}

// bytesNeededToAcceptLeads returns how many bytes of the disk must be free for the exchange to accept
// leads.
func (s *diskMonitor) bytesNeededToAcceptLeads() uint64 { return reserve + 2*s.expected.Load() }

// measureAndCheckRoomFor measures the free disk space, and reports whether a file of the given size can
// be written without using the reserve.
func (s *diskMonitor) measureAndCheckRoomFor(fileBytes uint64) (hasSpace bool) {
	s.updateFreeSpace()
	return s.free.Load() >= reserve+fileBytes
}

// hasSpaceForOptionalFiles reports whether there is enough free disk space for files that can wait,
// such as the report. Snapshots have their own check. It returns false long before leads are refused.
func (s *diskMonitor) hasSpaceForOptionalFiles() bool {
	return s.free.Load() >= s.bytesNeededToAcceptLeads()+reserve
}

// estimateNextSnapshotBytes returns the expected size of the next snapshot in bytes. That is the
// size of the last snapshot, or an estimate from the number of leads if that is larger.
func (x *Exchange) estimateNextSnapshotBytes() uint64 {
	return max(x.disk.last.Load(), uint64(x.state.LeadCountWithExpired())*leadBytes+baseSnapshotBytes)
}

// diskReserveCheckingWriter passes a snapshot's data on to a file. It measures the free disk space every
// 4 MiB, and fails with errDiskLow if less is free than the reserve of the log.
type diskReserveCheckingWriter struct {
	to      io.Writer
	monitor *diskMonitor
	unseen  int // bytes since the last measurement
}

func (y *diskReserveCheckingWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if y.unseen >= snapshotCheckBytes {
			if y.unseen = 0; !y.monitor.measureAndCheckRoomFor(0) {
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

// maxLogQueueEntriesAndBytes returns how many entries and bytes the queue before the log may hold. An entry
// with the outcome of a delivery must never wait for a place in the queue. So the queue has
// places for everything that can be in it or still arrive. This is the backlog at which the
// exchange begins to refuse leads, one lead with its post per connection, and one outcome per
// open delivery.
//
// A connection or delivery never has two events in flight. The queued data is memory that the
// waiting requests hold anyway; the queue adds one slot for each.
func maxLogQueueEntriesAndBytes(limits *config.ServerLimitSettings) (maxEntries, maxBytes int) {
	maxEntries = maxQueueEntries + limits.Connections + maxOpenPosts
	lead := min(2*int64(limits.Body)+maxOutcomeBytes, wal.MaxEntry)
	all := maxQueueBytes + int64(limits.Connections)*lead + maxOpenPosts*maxOutcomeBytes
	return maxEntries, int(min(all, math.MaxInt))
}

// checkDiskLogQueueAndStopping returns engine.ErrUnavailable if the disk is low, the log has a long
// backlog, or the exchange is stopping. The engine calls it for every lead, before it reserves
// caps or funds.
func (x *Exchange) checkDiskLogQueueAndStopping() error {
	if x.disk.low.Load() || x.draining.Load() || isLogQueueOverloaded(x.logQueue()) {
		return engine.ErrUnavailable
	}
	return nil
}

// isLogQueueOverloaded reports whether the log's queue is too old, too long or too large, so that the
// exchange must refuse leads.
func isLogQueueOverloaded(entries, bytes int, age time.Duration) bool {
	return age > maxQueueDelay || entries > maxQueueEntries || bytes > maxQueueBytes
}
