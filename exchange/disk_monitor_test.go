package exchange

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pingpost/config"
	"pingpost/engine"
	"pingpost/internal/must"
	"pingpost/server/httperror"
	"pingpost/wal"
)

func TestLogQueueOverloadLimits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		entries, bytes int
		age            time.Duration
		want           bool
	}{
		{0, 0, 0, false},
		{maxQueueEntries, maxQueueBytes, maxQueueDelay, false},
		{maxQueueEntries + 1, 0, 0, true},
		{0, maxQueueBytes + 1, 0, true},
		{0, 0, maxQueueDelay + time.Nanosecond, true},
	} {
		if got := isLogQueueOverloaded(row.entries, row.bytes, row.age); got != row.want {
			t.Errorf("%+v: overloaded %v, want %v", row, got, row.want)
		}
	}
}

// TestLogQueueHasRoomForOutcomes: while a sync hangs, all entries that may precede the outcomes
// fill the queue. The outcomes still fit.
func TestLogQueueHasRoomForOutcomes(t *testing.T) {
	t.Parallel()
	limits := config.ServerLimitSettings{Connections: 300, Body: 64 << 10}
	opt := wal.Options{}
	opt.QueueLen, opt.QueueBytes = maxLogQueueEntriesAndBytes(&limits)
	reached, release := make(chan struct{}), make(chan struct{})
	opt.Faults.Sync = func() error {
		close(reached)
		<-release
		return errors.New("enough")
	}
	log := must.Value(wal.Open(t.TempDir(), opt))(t)
	put := func(name string, size int) {
		t.Helper()
		if err := log.Append(make([]byte, size), nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	put("entry in sync", 1)
	<-reached
	large := make([]byte, 2*limits.Body+maxOutcomeBytes)
	for !isLogQueueOverloaded(log.Queued()) {
		put("accepted lead", len(large))
	}
	for range limits.Connections - 1 { // the loop above added one of them
		put("lead accepted before", len(large))
	}
	shared := make([]byte, maxOutcomeBytes)
	for n := range maxOpenPosts {
		if err := log.Append(shared, nil); err != nil {
			t.Fatalf("outcome %d: %v", n, err)
		}
	}
	close(release)
	if err := log.Close(); !errors.Is(err, wal.ErrFailed) {
		t.Error(err)
	}
}

// TestLogErrorsAreTranslated: the engine and the server recognize the log's errors.
func TestLogErrorsAreTranslated(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	log := must.Value(wal.Open(t.TempDir(), wal.Options{QueueLen: 1, Faults: wal.Faults{Sync: func() error { <-release; return nil }}}))(t)
	j := engineLogAdapter{log}
	if err := j.Append(make([]byte, wal.MaxEntry+1), nil); !errors.Is(err, httperror.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	var full error
	for full == nil {
		full = j.Append([]byte("x"), nil)
	}
	if !errors.Is(full, engine.ErrBusy) {
		t.Errorf("full: %v", full)
	}
	close(release)
	must.Succeed(t, log.Close())
	if err := j.Append([]byte("x"), nil); !errors.Is(err, wal.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestReserveGuardingWriterWritesAll(t *testing.T) {
	t.Parallel()
	monitor := &diskMonitor{dir: t.TempDir(), logger: newLogger(new(logBuffer))}
	for _, size := range []int{0, 1, snapshotCheckBytes - 1, snapshotCheckBytes, snapshotCheckBytes + 1, 3*snapshotCheckBytes + 5} {
		want := bytes.Repeat([]byte("0123456"), size/7+1)[:size]
		var got bytes.Buffer
		y := &diskReserveCheckingWriter{to: &got, monitor: monitor}
		n, err := y.Write(want)
		m, errMore := y.Write([]byte("more"))
		if err != nil || errMore != nil || n != size || m != 4 || !bytes.Equal(got.Bytes(), append(want, "more"...)) {
			t.Errorf("write of %d bytes: got %d, %v", size, n, err)
		}
	}
}

// TestLowDiskSpaceLogsAreThrottled: free space around the limit does not flood the log.
func TestLowDiskSpaceLogsAreThrottled(t *testing.T) {
	t.Parallel()
	var output logBuffer
	monitor := &diskMonitor{logger: slog.New(slog.NewTextHandler(&output, nil))}
	noon, offset := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), 0
	for _, row := range []struct {
		after time.Duration
		free  uint64
		want  string // empty: no line
	}{
		{0, 10, ""},
		{time.Second, 9, "level=WARN"},
		{2 * time.Second, 9, ""},
		{3 * time.Second, 10, "level=INFO"},
		{4 * time.Second, 9, ""},
		{5 * time.Second, 10, ""},
		{60 * time.Second, 9, ""},
		{61 * time.Second, 9, "level=WARN"},
		{122 * time.Second, 9, "level=WARN"},
		{123 * time.Second, 11, "level=INFO"},
		{124 * time.Second, 11, ""},
	} {
		monitor.logSpaceLowOrRestored(noon.Add(row.after), row.free, 10)
		line := output.String()[offset:]
		offset += len(line)
		if (line != "") != (row.want != "") || !strings.Contains(line, row.want) {
			t.Errorf("%d bytes free at %v: logged %q, want %q", row.free, row.after, line, row.want)
		}
	}
}
