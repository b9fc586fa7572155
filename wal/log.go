package wal

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
)

// A Log is open for writing, by this process alone.
//
// Three goroutines belong to it: the committer (committer.go), the only one that
// writes; the sweeper (archive.go), which moves and removes old segments; and the
// scrubber (scrub.go), which ends by itself. Close ends them.
//
// Locks: queue.mu, mu, shelf.mu and good.mu are each held for a few lines, never two at once,
// and never across a call to the disk.
type Log struct {
	dir      string
	opt      Options
	log      *slog.Logger
	lockFile *os.File
	queue    *queue
	shelf    *shelf
	good     *goodSnapshots
	epoch    uint32

	// The committer's own.
	disk    *disk
	at      int64 // time of the last batch
	batch   []item
	encoded []byte

	mu        sync.Mutex // guards what follows
	end       position
	stats     Stats
	failure   error
	followers map[chan struct{}]struct{}

	failed    chan struct{} // closed when failure is set
	stop      chan struct{} // closed by Close, for sweeper and scrubber
	done      chan struct{} // closed when the committer has ended
	side      sync.WaitGroup
	closeOnce sync.Once
	closeErr  error
}

// A position is how far the log is durable.
type position struct {
	seq   uint64
	at    int64
	seg   uint64 // the last segment
	off   int64  // bytes of it that are durable
	total int64  // bytes that became durable since Open
}

// Open opens the log in dir, creating what is missing, and takes the folder's lock.
// It checks all entries from opt.From on, cuts a torn tail (keeping a copy under
// damage/), and writes the last segment anew. It returns an error for which
// errors.Is holds with ErrLocked, ErrForeign or ErrDamaged, or a *VersionError; then
// the log is as it was.
func Open(dir string, opt Options) (*Log, error) {
	opt = opt.withDefaults()
	for _, d := range []string{dir, logDir(dir)} {
		if err := makeDir(d); err != nil {
			return nil, fmt.Errorf("cannot create %q: %w", d, err)
		}
	}
	lockFile, err := lock(dir)
	if err != nil {
		return nil, err
	}
	l, err := openLocked(dir, opt)
	if err != nil {
		lockFile.Close()
		return nil, err
	}
	l.lockFile = lockFile
	l.side.Add(2)
	go l.commitLoop()
	go l.sweepLoop()
	go l.scrubLoop()
	return l, nil
}

func openLocked(dir string, opt Options) (*Log, error) {
	t, err := recovered(dir, opt)
	if err != nil {
		return nil, err
	}
	epoch, err := ReadEpoch(dir)
	if err != nil {
		return nil, err
	}
	shelf, err := newShelf(dir)
	if err != nil {
		return nil, err
	}
	disk, err := openDisk(logDir(dir), opt.SegmentSize, opt.Faults, t.seg.First, t.chain.seq, int(t.size))
	if err != nil {
		return nil, err
	}
	l := &Log{
		dir: dir, opt: opt, log: opt.Logger, disk: disk, shelf: shelf, good: new(goodSnapshots),
		queue:     newQueue(opt.QueueLen, opt.QueueBytes),
		epoch:     max(epoch, t.chain.epoch),
		at:        max(t.chain.at, opt.NotBefore),
		followers: map[chan struct{}]struct{}{},
		failed:    make(chan struct{}),
		stop:      make(chan struct{}),
		done:      make(chan struct{}),
	}
	l.good.add(opt.AtLeast)
	l.end = position{seq: t.chain.seq, at: l.at, seg: t.seg.First, off: t.size}
	return l, nil
}

// Append queues an entry. data must stay untouched until w has been told; w may be
// nil. It allocates nothing and never waits for the disk. The error is ErrBusy,
// ErrFailed, ErrClosed, ErrEmpty or ErrTooLarge, and then w is never told.
func (l *Log) Append(data []byte, w Waiter) error {
	if len(data) == 0 {
		return ErrEmpty
	}
	if len(data) > MaxEntry {
		return ErrTooLarge
	}
	return l.queue.put(data, w)
}

// Do runs f on the committer's goroutine between two batches, with the last durable
// sequence and its batch's time, and returns when it has run. All entries up to seq
// have been told and none after. A Waiter must not call it.
func (l *Log) Do(f func(seq uint64, at int64)) error {
	done, err := l.queue.call(f)
	if err != nil {
		return err
	}
	return <-done
}

// Durable returns the last durable sequence, 0 in a new log, and its batch's time.
func (l *Log) Durable() (seq uint64, at int64) {
	p := l.position()
	return p.seq, p.at
}

// Epoch returns the life of the log: see ReadEpoch.
func (l *Log) Epoch() uint32 { return l.epoch }

// Dir returns the folder that Open was given.
func (l *Log) Dir() string { return l.dir }

// Failed is closed when the log has failed; Err then says why.
func (l *Log) Failed() <-chan struct{} { return l.failed }

// Err returns nil while the log works, else an error that is ErrFailed and names
// the cause.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// Close commits what is queued, ends the goroutines and gives the folder back. On a
// log that has failed it touches no segment, and returns the failure.
func (l *Log) Close() error {
	l.closeOnce.Do(func() {
		l.queue.close()
		<-l.done
		close(l.stop)
		l.side.Wait()
		l.closeErr = l.Err()
		if l.closeErr == nil {
			l.closeErr = l.disk.close()
		}
		l.lockFile.Close()
	})
	return l.closeErr
}

func (l *Log) position() position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}
