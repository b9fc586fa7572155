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

func TestLeadsAreRefusedWhileTheLogIsBehind(t *testing.T) {
	for _, row := range []struct {
		log  wal.Stats
		want bool
	}{
		{wal.Stats{}, false},
		{wal.Stats{Queued: maxQueueEntries, QueuedBytes: maxQueueBytes, QueueDelay: maxQueueDelay}, false},
		{wal.Stats{Queued: maxQueueEntries + 1}, true},
		{wal.Stats{QueuedBytes: maxQueueBytes + 1}, true},
		{wal.Stats{QueueDelay: maxQueueDelay + time.Nanosecond}, true},
	} {
		if got := isLogQueueOverloaded(row.log); got != row.want {
			t.Errorf("%+v: %v", row.log, got)
		}
	}
}

// TestOutcomesFindRoom fills a queue, while the disk stands still, with all that may
// come before the outcomes: they go in all the same.
func TestOutcomesFindRoom(t *testing.T) {
	limits := config.LimitSettings{Connections: 300, Body: 64 << 10}
	opt := wal.Options{}
	opt.QueueLen, opt.QueueBytes = logQueueLimits(&limits)
	reached, through := make(chan struct{}), make(chan struct{})
	opt.Faults.Sync = func() error {
		close(reached)
		<-through
		return errors.New("enough")
	}
	log := must.Value(wal.Open(t.TempDir(), opt))(t)
	put := func(what string, size int) {
		t.Helper()
		if err := log.Append(make([]byte, size), nil); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	put("the one that the disk keeps", 1)
	<-reached
	large := make([]byte, 2*limits.Body+maxOutcomeBytes)
	for !isLogQueueOverloaded(log.Stats()) {
		put("a lead that is admitted", len(large))
	}
	for range limits.Connections - 1 { // the last one above was one of theirs
		put("a lead that had been admitted", len(large))
	}
	shared := make([]byte, maxOutcomeBytes)
	for n := range maxOpenPosts {
		if err := log.Append(shared, nil); err != nil {
			t.Fatalf("outcome %d: %v", n, err)
		}
	}
	close(through)
	if err := log.Close(); !errors.Is(err, wal.ErrFailed) {
		t.Error(err)
	}
}

// TestLogsErrors: each is known to those who have to do with it.
func TestLogsErrors(t *testing.T) {
	through := make(chan struct{})
	log := must.Value(wal.Open(t.TempDir(), wal.Options{QueueLen: 1, Faults: wal.Faults{Sync: func() error { <-through; return nil }}}))(t)
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
	close(through)
	must.Succeed(t, log.Close())
	if err := j.Append([]byte("x"), nil); !errors.Is(err, wal.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestYieldingWritesAll, in pieces, as long as there is room.
func TestYieldingWritesAll(t *testing.T) {
	room := &diskMonitor{dir: t.TempDir(), logger: logger}
	for _, size := range []int{0, 1, snapshotCheckBytes - 1, snapshotCheckBytes, snapshotCheckBytes + 1, 3*snapshotCheckBytes + 5} {
		want := bytes.Repeat([]byte("0123456"), size/7+1)[:size]
		var got bytes.Buffer
		y := &reserveGuardingWriter{to: &got, monitor: room}
		n, err := y.Write(want)
		m, errMore := y.Write([]byte("more"))
		if err != nil || errMore != nil || n != size || m != 4 || !bytes.Equal(got.Bytes(), append(want, "more"...)) {
			t.Errorf("%d bytes: %d, %v", size, n, err)
		}
	}
}

// TestTheLogTellsOfLittleRoom: a disk that is at the edge does not fill the log.
func TestTheLogTellsOfLittleRoom(t *testing.T) {
	var told lines
	room := &diskMonitor{logger: slog.New(slog.NewTextHandler(&told, nil))}
	noon, at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), 0
	for _, row := range []struct {
		after time.Duration
		free  uint64
		want  string // nothing: not a line
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
		room.logSpaceLowOrRestored(noon.Add(row.after), row.free, 10)
		said := told.String()[at:]
		at += len(said)
		if (said != "") != (row.want != "") || !strings.Contains(said, row.want) {
			t.Errorf("%d free at %v: %q, want %q", row.free, row.after, said, row.want)
		}
	}
}
