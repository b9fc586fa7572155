package wal

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

// onDevice replaces the file that tidwall's log writes to by a device, so that the kernel
// itself fails the next operation.
func onDevice(t *testing.T, path, device string) {
	t.Helper()
	dev, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no %s here", device)
	}
	defer dev.Close()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(links) == 0 {
		t.Skip("no /proc here")
	}
	for _, link := range links {
		to, err := os.Readlink(link)
		var fd int
		if _, serr := fmt.Sscan(filepath.Base(link), &fd); err != nil || serr != nil || to != path {
			continue
		}
		must.Succeed(t, syscall.Dup3(int(dev.Fd()), fd, syscall.O_CLOEXEC))
		return
	}
	t.Fatalf("nobody has %s open", path)
}

// TestSyncUsesOpenFile: Sync gets a write-back error through a file that was open before the write. A file
// that it opened later would miss an error that a reader got first.
func TestSyncUsesOpenFile(t *testing.T) {
	for name, size := range map[string]int{"first segment": 1 << 20, "after a rotation": recordSize(4)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := mustOpenReplica(t, dir, Options{SegmentSize: size})
			appendBatch(t, r, 1, "lead")
			segment, _ := r.End()
			onDevice(t, livePath(dir, segment), "/dev/null") // the writer's file, or that of Sync
			onDevice(t, livePath(dir, segment), "/dev/null") // the other one
			_, err := r.Sync()
			wantError(t, err, syscall.EINVAL)
			wantError(t, err, ErrFailed)
		})
	}
}

func TestKernelErrorFailsLog(t *testing.T) {
	for device, want := range map[string]error{
		"/dev/full": syscall.ENOSPC, // fails the write
		"/dev/null": syscall.EINVAL, // accepts the write and fails the fsync
	} {
		for name, size := range map[string]int{"in a segment": 1 << 20, "in a rotation": 3 * recordSize(12)} {
			t.Run(device+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				l := mustOpen(t, dir, Options{SegmentSize: size})
				put(t, l, numbered(2)...)
				onDevice(t, livePath(dir, 1), device)
				w := newResult()
				must.Succeed(t, l.Append([]byte("lost"), w))
				_, err := w.wait()
				wantError(t, err, ErrFailed)
				wantError(t, err, want)
				wantError(t, l.Append([]byte("later"), nil), ErrFailed)
				wantError(t, l.Close(), want)
				mustOpen(t, dir, Options{})
				equal(t, "entries after a restart", all(t, dir, 0), numbered(2))
			})
		}
	}
}
