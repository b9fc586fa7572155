package wal

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"pingpost/internal/durable"

	"pingpost/wal/commitqueue"
)

// Log is an append-only log that this process alone has open for writing.
//
// It runs three goroutines. The committer (committer.go) alone writes entries. The archiver
// (archiver.go) moves and deletes old segments. The scrubber (scrub.go) checks old segments
// once and ends. Close ends all three.
//
// Locks: queue.mu, mu, archiver.mu and verified.mu are each held for a few lines, never two
// at once, and never during a disk operation.
type Log struct {
	dir      string
	opt      Options
	log      *slog.Logger
	lockFile *os.File
	queue    *commitqueue.Queue
	archiver *archiver
	verified *verifiedSnapshotCache
	epoch    uint32

	// Only the committer uses these.
	writer  *segmentWriter
	at      int64 // time of the last batch
	batch   []commitqueue.Entry
	encoded []byte

	mu      sync.Mutex // guards the fields below, up to failure
	end     publishedLogEnd
	stats   Stats
	failure error

	failed    chan struct{} // closed when failure is set
	stop      chan struct{} // closed by Close, for archiver and scrubber
	done      chan struct{} // closed when the committer has ended
	side      sync.WaitGroup
	closeOnce sync.Once
	closeErr  error
}

// publishedLogEnd is the end up to which readers may read. In a Log everything before it survives a
// crash. In a Replica only entries before the last Sync, and full segments, do.
type publishedLogEnd struct {
	seq uint64
	at  int64
	seg uint64 // the last segment
	off int64  // readable bytes in the last segment
}

// Open opens the log in dir for writing. It creates missing folders and locks dir. It checks
// all entries from opt.From on, cuts off an unfinished last write (with a copy under
// damage/), and rewrites the last segment. The error wraps ErrLocked, ErrForeign or
// ErrDamaged, or is a *VersionError; the log is then unchanged. Any other error, such as an
// I/O error, may also come after the cut.
func Open(dir string, opt Options) (*Log, error) {
	opt = opt.withDefaults()
	for _, d := range []string{dir, logDir(dir)} {
		if err := durable.MakeFolder(d); err != nil {
			return nil, fmt.Errorf("cannot create %q: %w", d, err)
		}
	}
	lockFile, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	l, err := openLogWithoutGoroutines(dir, opt)
	if err != nil {
		lockFile.Close()
		return nil, err
	}
	l.lockFile = lockFile
	l.side.Add(2)
	if opt.replica {
		l.queue.CloseAndTakeAll(ErrReplica)
		close(l.done)
	} else {
		go l.commitLoop()
	}
	go l.archiveLoop()
	go l.verifyOldSegments()
	return l, nil
}

func openLogWithoutGoroutines(dir string, opt Options) (*Log, error) {
	t, err := recoverTail(dir, opt)
	if err != nil {
		return nil, err
	}
	epoch, err := ReadEpoch(dir)
	if err != nil {
		return nil, err
	}
	archiver, err := newSegmentArchiver(dir)
	if err != nil {
		return nil, err
	}
	writer, err := openSegmentWriter(logDir(dir), opt.SegmentSize, opt.Faults, t.seg.First, t.chain.seq, int(t.size))
	if err != nil {
		return nil, err
	}
	l := &Log{
		dir: dir, opt: opt, log: opt.Logger, writer: writer, archiver: archiver, verified: new(verifiedSnapshotCache),
		queue:  commitqueue.New(opt.QueueLen, opt.QueueBytes, recordSize),
		epoch:  max(epoch, t.chain.epoch),
		at:     max(t.chain.at, opt.NotBefore),
		failed: make(chan struct{}),
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
	}
	l.verified.add(opt.AtLeast)
	l.end = publishedLogEnd{seq: t.chain.seq, at: l.at, seg: t.seg.First, off: t.size}
	return l, nil
}

// Append queues an entry for the committer and returns without waiting for the disk. The log notifies
// w, which may be nil, when the entry is durable or the log has failed. The caller must not change data
// before that notification. Append allocates no memory. After an error (ErrBusy, ErrFailed, ErrClosed,
// ErrEmpty or ErrTooLarge) w gets no call.
func (l *Log) Append(data []byte, w Waiter) error {
	if len(data) == 0 {
		return ErrEmpty
	}
	if len(data) > MaxEntry {
		return ErrTooLarge
	}
	return l.queue.Enqueue(data, w)
}

// RunBetweenBatches runs f on the committer's goroutine between two batches and returns after f. f
// receives the number (seq) and the time of the last durable entry. At that moment the waiters of
// all entries up to seq have been notified, and no others. A waiter must not call
// RunBetweenBatches, because it would wait for the goroutine on which it runs. If the log is closed
// or has failed, RunBetweenBatches returns the reason and does not run f.
func (l *Log) RunBetweenBatches(f func(seq uint64, at int64)) error {
	done, err := l.queue.EnqueueCall(f)
	if err != nil {
		return err
	}
	return <-done
}

// LastEntry returns the number of the last entry (0 in a new log) and the time of its batch in unix
// nanoseconds. In a Log the entry is durable; in a Replica only after Sync.
func (l *Log) LastEntry() (seq uint64, at int64) {
	p := l.publishedEnd()
	return p.seq, p.at
}

// End returns the last segment, by its first sequence, and the number of its bytes that readers may read.
func (l *Log) End() (segment uint64, offset int64) {
	p := l.publishedEnd()
	return p.seg, p.off
}

// Epoch returns the log's epoch, which rises when the numbers of lost entries may be assigned
// again. See ReadEpoch.
func (l *Log) Epoch() uint32 { return l.epoch }

// Dir returns the folder that was passed to Open.
func (l *Log) Dir() string { return l.dir }

// Failed returns a channel that closes when the log fails for good. Err then returns the
// cause.
func (l *Log) Failed() <-chan struct{} { return l.failed }

// Err returns nil while the log works. After a failure it returns an error that wraps
// ErrFailed and contains the cause.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// Close commits the queued entries, ends the log's goroutines and unlocks the folder. If the
// log has failed, Close writes nothing more and returns the failure.
func (l *Log) Close() error {
	l.closeOnce.Do(func() {
		l.queue.Close()
		<-l.done
		close(l.stop)
		l.side.Wait()
		l.closeErr = l.Err()
		if l.closeErr == nil {
			l.closeErr = l.writer.close()
		}
		l.lockFile.Close()
	})
	return l.closeErr
}

func (l *Log) publishedEnd() publishedLogEnd {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// Stats counts the log's work since Open, and describes its current state.
type Stats struct {
	Batches  uint64 // fsyncs that covered entries
	Entries  uint64
	Bytes    uint64 // of records
	Segments uint64 // begun since Open

	Live     int // segments under log/
	Archived int // segments under archive/

	Scrubbed uint64 // segments checked in the background
	Damaged  uint64 // damaged or unreadable ones among them; no replay needs them, and the program's log names them
}

// Stats returns the current figures.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	s := l.stats
	l.mu.Unlock()
	s.Live, s.Archived = l.archiver.countSegments()
	return s
}

// Queued returns the number and the bytes of the queued entries, and the age of the oldest that is not durable
// yet; 0 if all are. It takes no lock, so that each request can call it.
func (l *Log) Queued() (entries, bytes int, age time.Duration) { return l.queue.CountQueued() }
