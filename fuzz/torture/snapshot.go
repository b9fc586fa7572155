//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A snapshot fails during an orderly stop. No snapshot may result; the log has everything, and
// the next start uses it.
var (
	_ = register(fault{name: "EIO from a snapshot's write", weight: 1, missing: missingTrace, inject: func(t *torture) bool { return t.failSnapshot("write") }})
	_ = register(fault{name: "EIO from a snapshot's fsync", weight: 1, missing: missingTrace, inject: func(t *torture) bool { return t.failSnapshot("fsync") }})
)

// failSnapshot stops the exchange in order and makes a call on the snapshot file fail. It
// returns false if the exchange wrote no snapshot.
func (t *torture) failSnapshot(call string) bool {
	before := newestSnapshot(t.DataDir())
	cmd, trace := t.attachStrace(filepath.Join(t.DataDir(), "snapshot", "next.tmp"), syscallNames[call], syscallNames[call]+":error=EIO")
	defer func() { _ = os.Remove(trace) }()
	time.Sleep(300 * time.Millisecond) // until strace is attached; otherwise there is no occasion
	t.Signal(syscall.SIGTERM)
	code := t.AwaitFailure()
	_ = cmd.Wait()
	hit := strings.Contains(readText(trace), "(INJECTED)")
	if now := newestSnapshot(t.DataDir()); hit && now != before {
		t.reporter.Errorf("a snapshot's %s failed, but a snapshot of entry %d exists; exit code %d", call, now, code)
	}
	t.Start()
	return hit
}
