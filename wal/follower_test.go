package wal

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
)

func TestFollowerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := mustOpen(t, t.TempDir(), Options{SegmentSize: 2 * recordSize(12)})
		f := must.Value(l.Follow(1, 0))(t)
		defer f.Close()
		got := make(chan string)
		go func() {
			for range 5 {
				e, err := f.Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				got <- string(e.Data)
			}
		}()
		for _, want := range numbered(5) {
			synctest.Wait() // it sleeps
			put(t, l, want)
			equal(t, "entry", <-got, want)
		}
		mustClose(t, l)
	})
}

func TestFollowerEndsWithContextOrLog(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(l *Log, f *fault, cancel func())
		want error
	}{
		"its context": {func(_ *Log, _ *fault, cancel func()) { cancel() }, context.Canceled},
		"its log":     {func(l *Log, _ *fault, _ func()) { l.Close() }, ErrClosed},
		"a log that fails": {func(l *Log, f *fault, _ func()) {
			f.armed.Store(true)
			l.Append([]byte("lost"), nil)
		}, ErrFailed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				flt := new(fault)
				l := mustOpen(t, t.TempDir(), Options{Faults: Faults{Sync: flt.strike}})
				put(t, l, numbered(2)...)
				f := must.Value(l.Follow(1, 0))(t)
				defer f.Close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error)
				go func() {
					n := 0
					for {
						if _, err := f.Next(ctx); err != nil {
							if n != 2 {
								t.Errorf("it had %d entries before the end", n)
							}
							ended <- err
							return
						}
						n++
					}
				}()
				synctest.Wait()
				c.end(l, flt, cancel)
				wantError(t, <-ended, c.want)
				l.Close()
			})
		})
	}
}

func TestFollowerReadsClosedLogToEnd(t *testing.T) {
	l := mustOpen(t, t.TempDir(), Options{})
	put(t, l, numbered(3)...)
	f := must.Value(l.Follow(2, 0))(t)
	defer f.Close()
	mustClose(t, l)
	for _, want := range numbered(3)[1:] {
		e, err := f.Next(t.Context())
		equal(t, "entry", []any{string(e.Data), err}, []any{want, nil})
	}
	_, err := f.Next(t.Context())
	wantError(t, err, ErrClosed)
}

func TestLaggingFollowerGetsErrLagged(t *testing.T) {
	one := int64(recordSize(12))
	l := mustOpen(t, t.TempDir(), Options{SegmentSize: int(3 * one)})
	put(t, l, numbered(7)...)
	f := must.Value(l.Follow(1, 2*one))(t)
	defer f.Close()
	equal(t, "what was there before does not count", f.Lag(), 0)
	put(t, l, "8", "9")
	read := func(n int) {
		t.Helper()
		for range n {
			must.Value(f.Next(t.Context()))(t)
		}
	}
	small := int64(recordSize(1))
	equal(t, "two new ones", f.Lag(), 2*small)
	read(7)
	equal(t, "caught up with what was there", f.Lag(), 2*small)
	read(1)
	equal(t, "one of the new ones read", f.Lag(), small)
	put(t, l, numbered(2)...)
	_, err := f.Next(t.Context())
	wantError(t, err, ErrLagged)
	if len(l.followers) != 1 {
		t.Error("the follower is not known")
	}
	f.Close()
	if len(l.followers) != 0 {
		t.Error("the follower is still known")
	}
}

func TestFollowerPollsOtherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := mustOpen(t, dir, Options{})
		f := must.Value(Follow(dir, 0, time.Second))(t)
		defer f.Close()
		start := time.Now()
		go func() {
			time.Sleep(1500 * time.Millisecond)
			put(t, l, "entry")
		}()
		e, err := f.Next(t.Context())
		equal(t, "entry", []any{string(e.Data), err, time.Since(start), f.Lag()}, []any{"entry", nil, 2 * time.Second, 0})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err = f.Next(ctx)
		wantError(t, err, context.DeadlineExceeded)
		mustClose(t, l)
	})
	_, err := Follow(t.TempDir(), 0, time.Second)
	wantError(t, err, os.ErrNotExist)
}

func TestFollowerRetainsNoSegments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := mustOpen(t, dir, Options{SegmentSize: recordSize(12), Now: func() int64 { return 1 }})
		f := must.Value(l.Follow(1, 0))(t)
		defer f.Close()
		put(t, l, numbered(10)...)
		l.RaiseArchiveBounds(100, 2)
		time.Sleep(time.Minute)
		if _, err := f.Next(t.Context()); err != nil {
			t.Errorf("the file that it had open: %v", err)
		}
		_, err := f.Next(t.Context())
		wantError(t, err, ErrGone)
		if errors.Is(err, syscall.ENOENT) {
			t.Errorf("the error speaks of files: %v", err)
		}
		mustClose(t, l)
	})
}
