package wal

import (
	"context"
	"errors"
	"io"
	"time"
)

// A Follower reads on as the log grows. One goroutine uses it.
//
// It holds nothing back: segments go when their time has come, whoever still reads.
// One that falls behind by more than maxLag bytes is told ErrLagged, rather than
// finding some hours later that its place is gone.
type Follower struct {
	r    *Reader
	wait func(ctx context.Context) error
	stop func()
	lag  lag
	log  *Log // nil where another process writes
}

// A lag counts bytes that were appended since the follower began and that it has
// not read. What was there before is not counted: a report that is built anew may
// begin far behind, as long as it gains.
type lag struct {
	max     int64 // 0: any
	initial int64 // bytes that were there when it began
	start   int64 // position.total then
}

func (g lag) behind(total, read int64) int64 {
	return max(0, total-g.start-max(0, read-g.initial))
}

// Follow reads this log from entry `from` on, and waits for more at its end. maxLag
// is in bytes; 0 means any.
func (l *Log) Follow(from uint64, maxLag int64) (*Follower, error) {
	r, err := l.NewReader(from)
	if err != nil {
		return nil, err
	}
	p := l.position()
	f := &Follower{r: r, log: l, lag: lag{max: maxLag, start: p.total, initial: l.backlog(r.cur.seg, p)}}
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

// Follow reads a folder that another process writes, and looks for more every so
// often. Where its place is gone it is told ErrGone.
func Follow(dir string, from uint64, every time.Duration) (*Follower, error) {
	r, err := NewReader(dir, from)
	if err != nil {
		return nil, err
	}
	wait := func(ctx context.Context) error {
		select {
		case <-time.After(every):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &Follower{r: r, wait: wait, stop: func() {}}, nil
}

// Next returns the next entry, waiting for it where it must. The error is one of
// Reader.Next but io.EOF, ErrLagged, the context's, or, after the last durable entry,
// ErrClosed or ErrFailed.
func (f *Follower) Next(ctx context.Context) (Entry, error) {
	for {
		if f.lag.max > 0 && f.Lag() > f.lag.max {
			return Entry{}, ErrLagged
		}
		ended := f.log != nil && f.log.hasEnded()
		e, err := f.r.Next()
		if !errors.Is(err, io.EOF) {
			return e, err
		}
		if ended {
			return e, f.log.whyEnded()
		}
		if err := f.wait(ctx); err != nil {
			return e, err
		}
	}
}

// Lag is how many bytes have been appended since the follower began that it has not
// read; always 0 where another process writes.
func (f *Follower) Lag() int64 {
	if f.log == nil {
		return 0
	}
	return f.lag.behind(f.log.position().total, f.r.read)
}

// Close ends the follower.
func (f *Follower) Close() {
	f.stop()
	f.r.Close()
}

// hasEnded says that nothing will be appended any more.
func (l *Log) hasEnded() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *Log) whyEnded() error {
	if err := l.Err(); err != nil {
		return err
	}
	return ErrClosed
}

// backlog is how many bytes there are from the beginning of segment first to p.
func (l *Log) backlog(first uint64, p position) int64 {
	bytes := p.off
	segments, err := Segments(l.dir)
	if err != nil {
		return bytes // the reader will meet it and say so
	}
	for _, s := range segments {
		if s.First >= first && s.First < p.seg {
			bytes += s.size()
		}
	}
	return bytes
}

// wakeFollowers is the committer's; a follower that is awake needs no second token.
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
