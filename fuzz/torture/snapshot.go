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

// A snapshot that the disk does not take, in an orderly stop: what failed is no
// snapshot, the log has everything, and the next start goes by it.
var (
	_ = register(fault{name: "EIO from a snapshot's write", weight: 1, lacks: noTrace, strike: func(t *torture) bool { return t.snapshotFails("write") }})
	_ = register(fault{name: "EIO from a snapshot's fsync", weight: 1, lacks: noTrace, strike: func(t *torture) bool { return t.snapshotFails("fsync") }})
)

// snapshotFails stops the exchange in order, and has a call on the snapshot that it
// writes fail. It is false where none was written.
func (t *torture) snapshotFails(call string) bool {
	trace := filepath.Join(t.dir, "trace")
	defer func() { _ = os.Remove(trace) }()
	before := newestSnapshot(t.DataDir())
	cmd := exec.Command("strace", "-f", "-o", trace, "-P", filepath.Join(t.DataDir(), "snapshot", "next.tmp"),
		"-e", "trace="+calls[call], "-e", "inject="+calls[call]+":error=EIO:when=1", "-p", strconv.Itoa(t.Pid()))
	said := new(bytes.Buffer)
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.clerk.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // until strace holds it; where it does not yet, there is no occasion
	t.Signal(syscall.SIGTERM)
	code := t.AwaitFailure()
	_ = cmd.Wait()
	hit := strings.Contains(read(trace), "(INJECTED)")
	if now := newestSnapshot(t.DataDir()); hit && now != before {
		t.clerk.Errorf("a snapshot's %s failed, and there is one of entry %d now; exit code %d", call, now, code)
	}
	t.Start()
	return hit
}
