package wal

import (
	"context"
	"errors"
	"io"
	"time"

	"pingpost/internal/timer"
)

// Follower reads the log's entries and waits for new ones at the end. It is not safe for
// concurrent use.
//
// It does not prevent the deletion of old segments. With more than maxLag unread bytes, Next
// returns ErrLagged early, and not hours later when its segment was deleted.
type Follower struct {
	r    *Reader
	wait func(ctx context.Context) error
	stop func()
	lag  lagLimit
	log  *Log // nil if another process writes the log
}

// lagLimit counts the unread bytes among those that were appended since a follower began. It
// ignores older bytes, because the rebuild of a report may begin far behind if it catches up.
type lagLimit struct {
	max     int64 // 0: unlimited
	initial int64 // unread bytes when the follower began
	start   int64 // position.total when the follower began
}

func (g lagLimit) bytesBehind(written, read int64) int64 {
	return max(0, written-g.start-max(0, read-g.initial))
}

// Follow returns a Follower that reads this log from entry `from` on. Next fails with
// ErrLagged if more than maxLag bytes are unread; 0 means no limit.
func (l *Log) Follow(from uint64, maxLag int64) (*Follower, error) {
	r, err := l.NewReader(from)
	if err != nil {
		return nil, err
	}
	p := l.position()
	f := &Follower{r: r, log: l, lag: lagLimit{max: maxLag, start: p.total, initial: l.bytesToRead(r.cur.seg, p)}}
	more := make(chan struct{}, 1)
	l.mu.Lock()
	l.followers[more] = struct{}{}
	l.mu.Unlock()
	f.stop = func() {
		l.mu.Lock()
		delete(l.followers, more)
		l.mu.Unlock()
	}
	f.wait = func(ctx context.Context) error {
		select {
		case <-more:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-l.done:
			return nil
		}
	}
	return f, nil
}

// Follow reads a log that another process writes, and polls for more entries at the
// interval every. Next returns ErrGone if the segments are deleted before it reads them.
func Follow(dir string, from uint64, pollInterval time.Duration) (*Follower, error) {
	r, err := NewReader(dir, from)
	if err != nil {
		return nil, err
	}
	wait := func(ctx context.Context) error {
		select {
		case <-timer.After(pollInterval):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &Follower{r: r, wait: wait, stop: func() {}}, nil
}

// Next returns the next entry, and waits for it if necessary. The error is an error of
// Reader.Next except io.EOF, ErrLagged, or the context's error. After the last durable entry
// of a closed or failed log it is ErrClosed or ErrFailed.
func (f *Follower) Next(ctx context.Context) (Entry, error) {
	for {
		if f.lag.max > 0 && f.Lag() > f.lag.max {
			return Entry{}, ErrLagged
		}
		ended := f.log != nil && f.log.isClosedOrFailed()
		e, err := f.r.Next()
		if !errors.Is(err, io.EOF) {
			return e, err
		}
		if ended {
			return e, f.log.closedOrFailedError()
		}
		if err := f.wait(ctx); err != nil {
			return e, err
		}
	}
}

// Lag returns how many of the bytes appended since the follower began it has not read. It is
// always 0 if another process writes the log.
func (f *Follower) Lag() int64 {
	if f.log == nil {
		return 0
	}
	return f.lag.bytesBehind(f.log.position().total, f.r.read)
}

// Close ends the follower and closes its file.
func (f *Follower) Close() {
	f.stop()
	f.r.Close()
}

// isClosedOrFailed reports whether the log is closed or failed, and so appends no more entries.
func (l *Log) isClosedOrFailed() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *Log) closedOrFailedError() error {
	if err := l.Err(); err != nil {
		return err
	}
	return ErrClosed
}

// bytesToRead returns the number of log bytes from the beginning of the segment with first
// entry `first` up to position p.
func (l *Log) bytesToRead(first uint64, p logPosition) int64 {
	bytes := p.off
	segments, err := Segments(l.dir)
	if err != nil {
		return bytes // the reader will return this error
	}
	for _, s := range segments {
		if s.First >= first && s.First < p.seg {
			bytes += s.size()
		}
	}
	return bytes
}

// wakeFollowers makes each follower look for new entries. Only the committer calls it. A
// follower that has not seen the previous wake-up needs no second one.
func (l *Log) wakeFollowers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for more := range l.followers {
		select {
		case more <- struct{}{}:
		default:
		}
	}
}
