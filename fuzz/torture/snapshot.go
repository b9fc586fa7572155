//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	trace := filepath.Join(t.dir, "trace")
	defer func() { _ = os.Remove(trace) }()
	before := newestSnapshot(t.DataDir())
	cmd := exec.Command("strace", "-f", "-o", trace, "-P", filepath.Join(t.DataDir(), "snapshot", "next.tmp"),
		"-e", "trace="+syscallNames[call], "-e", "inject="+syscallNames[call]+":error=EIO:when=1", "-p", strconv.Itoa(t.Pid()))
	said := new(bytes.Buffer)
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.reporter.Fatal(err)
	}
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
