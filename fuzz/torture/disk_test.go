//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// mountTestDisk mounts a file system of 4 MB, or skips the test.
func mountTestDisk(t *testing.T) *disk {
	t.Helper()
	run := newTestTorture(1)
	run.dir = t.TempDir()
	if lacks := missingMount(run); lacks != "" {
		t.Skip(lacks)
	}
	at := filepath.Join(run.dir, "small")
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("torture", at, "tmpfs", 0, "size=4m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, 0); err != nil {
			t.Error(err)
		}
	})
	return &disk{torture: run, filler: filepath.Join(at, "ballast")}
}

// fillUp leaves exactly the requested space, and removeFiller frees it.
func TestFillUp(t *testing.T) {
	d := mountTestDisk(t)
	dir := filepath.Dir(d.filler)
	for _, test := range []struct {
		leave, fits, not int64 // bytes that must fit, and bytes that must not
	}{{1 << 20, 900 << 10, 2 << 20}, {0, 0, 4 << 10}} {
		d.fillUp(dir, test.leave)
		for size, wanted := range map[int64]bool{test.fits: true, test.not: false} {
			path := filepath.Join(dir, "more")
			err := os.WriteFile(path, make([]byte, size), 0o600)
			if (err == nil) != wanted {
				t.Errorf("with %d left, %d bytes: %v", test.leave, size, err)
			}
			_ = os.Remove(path)
		}
		d.removeFiller()
	}
	if err := os.WriteFile(filepath.Join(dir, "more"), make([]byte, 3<<20), 0o600); err != nil {
		t.Errorf("what was freed is not: %v", err)
	}
}

// The probes mount and limit nothing, and leave no process.
func TestProbesLeaveNoTrace(t *testing.T) {
	run := newTestTorture(1)
	run.dir = t.TempDir()
	before, _ := os.ReadFile("/proc/self/mounts")
	for _, f := range faults {
		if f.missing != nil {
			t.Logf("%s: %q", f.name, f.missing(run))
		}
	}
	after, _ := os.ReadFile("/proc/self/mounts")
	if string(before) != string(after) {
		t.Errorf("mounted:\n%s", after)
	}
	if left, _ := os.ReadDir(run.dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// Faults that need strace report its absence.
func TestWithoutStrace(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := exec.LookPath("strace"); err == nil {
		t.Skip("strace is found without a path")
	}
	if got := missingTrace(newTestTorture(1)); got != "strace is not installed" {
		t.Errorf("%q", got)
	}
}

// truncateUnsynced removes at most the bytes written before the failed fsync.
func TestTruncateUnsynced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "segment")
	for seed := range uint64(20) {
		if err := os.WriteFile(path, make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		failed := "7 fsync(9) = -1 EIO (Input/output error) (INJECTED)\n"
		newTestTorture(seed).truncateUnsynced(path, failed)
		if info, _ := os.Stat(path); info.Size() != 1000 {
			t.Errorf("%d bytes are left, and nothing was written", info.Size())
		}
		newTestTorture(seed).truncateUnsynced(path, `7 write(9, "x"..., 300) = 300`+"\n"+failed)
		if info, _ := os.Stat(path); info.Size() < 700 || info.Size() > 999 {
			t.Errorf("%d bytes are left", info.Size())
		}
	}
}
