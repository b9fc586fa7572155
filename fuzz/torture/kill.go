//go:build linux

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"pingpost/fuzz/witness"
)

// Plain ends of the process: at once, during a stop or its snapshot, during a reload, and again
// during the replay.
var (
	_ = register(fault{name: "killed", weight: 3, inject: func(t *torture) bool {
		t.sleepUpTo(8 * time.Millisecond)
		t.Kill()
		t.Start()
		return true
	}})
	_ = register(fault{name: "killed again in its replay", weight: 2, inject: func(t *torture) bool {
		t.Kill()
		for range 1 + t.random.IntN(2) {
			t.Launch()
			t.sleepUpTo(t.Startup())
			t.Kill()
		}
		t.Start()
		return true
	}})
	_ = register(fault{name: "killed in an orderly stop", weight: 2, inject: func(t *torture) bool {
		t.Signal(syscall.SIGTERM)
		t.sleepUpTo(200 * time.Millisecond)
		killed := t.Kill()
		t.Start()
		return killed
	}})
	_ = register(fault{name: "killed while it writes a snapshot", weight: 2, inject: (*torture).killInSnapshot})
	_ = register(fault{name: "killed in a reload", weight: 1, inject: func(t *torture) bool {
		t.WriteNextConfig()
		t.Signal(syscall.SIGHUP)
		t.sleepUpTo(15 * time.Millisecond)
		t.Kill()
		t.Start()
		return true
	}})
	_ = register(fault{name: "stopped in order", weight: 1, inject: func(t *torture) bool {
		t.Stop()
		t.Start()
		return true
	}})
)

// killInSnapshot stops the exchange in order, and kills it while it writes its snapshot. A
// temporary file of an earlier kill may exist; the exchange overwrites it.
func (t *torture) killInSnapshot() (killed bool) {
	begun := func() (at time.Time) {
		if info, err := os.Stat(filepath.Join(t.DataDir(), "snapshot", "next.tmp")); err == nil {
			at = info.ModTime()
		}
		return at
	}
	before := begun()
	t.Signal(syscall.SIGTERM)
	witness.Await(t.reporter, "the exchange writes a snapshot", func() bool {
		at := begun()
		return !at.IsZero() && !at.Equal(before) || t.ExitReport() != ""
	})
	t.sleepUpTo(4 * time.Millisecond)
	killed = t.Kill()
	t.Start()
	return killed
}
