//go:build linux

package torture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pingpost/fuzz/witness"
)

// smallDisk is a small file system at the place of the data directory.
type smallDisk struct {
	*torture
	savedDir, filler string
}

// mountSmallDisk moves the data directory to a file system of so many megabytes.
func (t *torture) mountSmallDisk(megabytes int) *smallDisk {
	d := &smallDisk{torture: t, savedDir: t.DataDir() + ".aside", filler: filepath.Join(t.DataDir(), "ballast")}
	t.Kill()
	d.failOnError(os.Rename(t.DataDir(), d.savedDir))
	d.failOnError(os.Mkdir(t.DataDir(), 0o700))
	d.failOnError(syscall.Mount("torture", t.DataDir(), "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)))
	t.mounted = true
	copyDir(d.torture, d.savedDir, t.DataDir())
	t.Start()
	return d
}

// restoreDataDir moves the data directory back.
func (d *smallDisk) restoreDataDir() {
	d.Kill()
	d.failOnError(os.RemoveAll(d.savedDir))
	copyDir(d.torture, d.DataDir(), d.savedDir)
	d.failOnError(d.unmount())
	d.failOnError(os.Remove(d.DataDir()))
	d.failOnError(os.Rename(d.savedDir, d.DataDir()))
	d.Start()
}

// saveDataDir copies the data directory out of memory after a finding.
func (t *torture) saveDataDir() {
	if err := t.endReadOnly(); err != nil {
		t.test.Logf("%v", err)
	}
	if !t.mounted {
		return
	}
	t.Signal(syscall.SIGKILL)
	for t.ExitReport() == "" {
		time.Sleep(10 * time.Millisecond)
	}
	_ = os.Remove(filepath.Join(t.DataDir(), "ballast"))
	if out, err := exec.Command("cp", "-a", t.DataDir(), filepath.Join(t.dir, "data.small")).CombinedOutput(); err != nil {
		t.test.Logf("cannot save the data directory from the small disk: %v %s", err, out)
	}
	if err := t.unmount(); err != nil {
		t.test.Logf("%v", err)
	}
}

func (t *torture) unmount() error {
	if !t.mounted {
		return nil
	}
	t.mounted = false
	return syscall.Unmount(t.DataDir(), 0)
}

func copyDir(t *torture, from, to string) {
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		t.test.Fatalf("cp: %v %s", err, out)
	}
}

// fillUntilLeft leaves the given number of free bytes; 0 makes every write fail.
func (d *smallDisk) fillUntilLeft(dir string, freeBytes int64) {
	f, err := os.Create(d.filler)
	d.failOnError(err)
	defer f.Close()
	piece := make([]byte, 64<<10)
	for {
		var s syscall.Statfs_t
		d.failOnError(syscall.Statfs(dir, &s))
		left := int64(s.Bavail)*s.Bsize - freeBytes
		if left <= 0 {
			return
		}
		if _, err := f.Write(piece[:min(left, int64(len(piece)))]); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				d.failOnError(err)
			}
			return
		}
	}
}

func (d *smallDisk) removeFiller() { d.failOnError(os.Remove(d.filler)) }

// whyNoMount returns the reason why mounts are not permitted, or "".
func whyNoMount(t *torture) (reason string) {
	at := filepath.Join(t.dir, "mount")
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err.Error()
	}
	defer func() { _ = os.Remove(at) }()
	if err := syscall.Mount("torture", at, "tmpfs", 0, "size=1m"); err != nil {
		return fmt.Sprintf("mount: %v", err)
	}
	if err := syscall.Unmount(at, 0); err != nil {
		return fmt.Sprintf("umount: %v", err)
	}
	return ""
}

// endReadOnly makes the backup's disk writable again.
func (t *torture) endReadOnly() error {
	if t.readOnlyDir == "" {
		return nil
	}
	at := t.readOnlyDir
	t.readOnlyDir = ""
	return syscall.Unmount(at, syscall.MNT_DETACH)
}

// syscallNames are the system calls of a write and an fsync on Linux.
var syscallNames = map[string]string{"write": "write,pwrite64,writev", "fsync": "fsync,fdatasync"}

// injectError makes the next call of a kind fail, and expects the exchange to end. It returns
// false if the log moved on to another segment before.
func (t *torture) injectError(call, failure string) bool {
	segment := t.lastSegmentPath()
	cmd, trace := t.attachStrace(segment, syscallNames["write"]+","+syscallNames["fsync"], syscallNames[call]+":error="+failure)
	defer func() { _ = os.Remove(trace) }()
	t.Suppliers.SendLeads(fewLeads)
	moved := false
	witness.Await(t.test, "a call fails: "+call+" "+failure, func() bool {
		moved = t.ExitReport() == "" && t.lastSegmentPath() != segment
		return moved || strings.Contains(readText(trace), "(INJECTED)")
	})
	if moved {
		_ = cmd.Process.Signal(os.Interrupt) // strace detaches
		_ = cmd.Wait()
		return false
	}
	t.expectFailure(call + " with " + failure)
	_ = cmd.Wait()
	if call == "fsync" {
		t.truncateUnsynced(segment, readText(trace))
	}
	t.Start()
	return true
}

// attachStrace makes the exchange's first call of a kind on a file fail. It traces the calls into
// a file.
func (t *torture) attachStrace(path, calls, failure string) (cmd *exec.Cmd, trace string) {
	trace = filepath.Join(t.dir, "trace")
	cmd = exec.Command("strace", "-f", "-o", trace, "-P", path, "-e", "trace="+calls, "-e", "inject="+failure+":when=1", "-p", strconv.Itoa(t.Pid()))
	t.failOnError(cmd.Start())
	return cmd, trace
}

// expectFailure waits for the exchange to end with a positive exit code.
func (t *torture) expectFailure(why string) {
	if code := t.AwaitFailure(); code <= 0 {
		t.test.Errorf("after a %s the exchange must end with a positive exit code, but ended with %d:\n%s", why, code, t.LastLines())
	}
}

// truncateUnsynced removes some bytes whose fsync failed from the log: bytes written since the
// previous fsync. The kernel marks such pages clean and may drop them. No output may rely on
// them.
func (t *torture) truncateUnsynced(segment, trace string) {
	n := unsyncedBytes(trace)
	if n == 0 {
		return
	}
	info, err := os.Stat(segment)
	if err == nil {
		err = os.Truncate(segment, info.Size()-1-t.random.Int64N(n))
	}
	t.failOnError(err)
}

var writeResult = regexp.MustCompile(`(?:write|pwrite64|writev)(?:\(.*| resumed>.*) = (\d+)$`)

// unsyncedBytes returns the number of bytes written in a trace before the failed fsync.
func unsyncedBytes(trace string) (sum int64) {
	for text := range strings.Lines(trace) {
		text = strings.TrimSuffix(text, "\n")
		if strings.Contains(text, "(INJECTED)") {
			return sum
		}
		if m := writeResult.FindStringSubmatch(text); m != nil {
			n, _ := strconv.ParseInt(m[1], 10, 64)
			sum += n
		}
	}
	return sum
}

// whyNoTrace returns the reason why processes cannot be traced, or "".
func whyNoTrace(t *torture) (reason string) {
	if _, err := exec.LookPath("strace"); err != nil {
		return "strace is not installed"
	}
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		return err.Error()
	}
	defer func() { _ = sleep.Process.Kill(); _ = sleep.Wait() }()
	probe := exec.Command("strace", "-o", os.DevNull, "-p", strconv.Itoa(sleep.Process.Pid))
	probe.Stderr = new(bytes.Buffer)
	if err := probe.Start(); err != nil {
		return err.Error()
	}
	time.Sleep(300 * time.Millisecond)
	_ = sleep.Process.Kill()
	if err := probe.Wait(); err != nil {
		return fmt.Sprintf("strace cannot attach to a process: %s", firstLine(probe.Stderr.(*bytes.Buffer).String()))
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func readText(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// whyNoLimit returns the reason why another process cannot be limited, or "".
func whyNoLimit(*torture) (reason string) {
	var now unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, nil, &now); err != nil {
		return "prlimit: " + err.Error()
	}
	return ""
}

// failSnapshot stops the exchange in order and makes a call on the snapshot file fail. It
// returns false if the exchange wrote no snapshot.
func (t *torture) failSnapshot(call string) bool {
	before := newestSnapshotSeq(t.DataDir())
	cmd, trace := t.attachStrace(t.snapshotInProgress(), syscallNames[call], syscallNames[call]+":error=EIO")
	defer func() { _ = os.Remove(trace) }()
	time.Sleep(300 * time.Millisecond) // until strace is attached; otherwise there is no occasion
	t.Signal(syscall.SIGTERM)
	code := t.AwaitFailure()
	_ = cmd.Wait()
	hit := strings.Contains(readText(trace), "(INJECTED)")
	if now := newestSnapshotSeq(t.DataDir()); hit && now != before {
		t.test.Errorf("a snapshot's %s failed, but a snapshot of entry %d exists; exit code %d", call, now, code)
	}
	t.Start()
	return hit
}

// truncateUnsynced removes at most the bytes written before the failed fsync.
func TestTruncateUnsynced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "segment")
	for seed := range uint64(20) {
		if err := os.WriteFile(path, make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		failed := "7 fsync(9) = -1 EIO (Input/output error) (INJECTED)\n"
		newTestTorture(t, seed).truncateUnsynced(path, failed)
		if info, _ := os.Stat(path); info.Size() != 1000 {
			t.Errorf("%d bytes are left, want 1000: the trace has no writes", info.Size())
		}
		newTestTorture(t, seed).truncateUnsynced(path, `7 write(9, "x"..., 300) = 300`+"\n"+failed)
		if info, _ := os.Stat(path); info.Size() < 700 || info.Size() > 999 {
			t.Errorf("%d bytes are left", info.Size())
		}
	}
}
