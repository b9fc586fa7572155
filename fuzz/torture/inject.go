//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pingpost/fuzz/witness"
)

// Disk errors, injected by strace into the exchange's calls on the log's last segment. The
// first call of a kind fails once. From then on the log has failed and the exchange must end,
// even if the disk would accept the next write.
var (
	_ = register(fault{name: "EIO from a write", weight: 1, missing: missingTrace, inject: func(t *torture) bool { return t.injectError("write", "EIO") }})
	_ = register(fault{name: "ENOSPC from a write", weight: 1, missing: missingTrace, inject: func(t *torture) bool { return t.injectError("write", "ENOSPC") }})
	_ = register(fault{name: "EIO from an fsync", weight: 2, missing: missingTrace, inject: func(t *torture) bool { return t.injectError("fsync", "EIO") }})
	_ = register(fault{name: "ENOSPC from an fsync", weight: 1, missing: missingTrace, inject: func(t *torture) bool { return t.injectError("fsync", "ENOSPC") }})
)

// syscallNames are the system calls of a write and an fsync on Linux.
var syscallNames = map[string]string{"write": "write,pwrite64,writev", "fsync": "fsync,fdatasync"}

// injectError makes the next call of a kind fail, and expects the exchange to end. It returns
// false if the log moved on to another segment before.
func (t *torture) injectError(call, failure string) bool {
	segment := t.lastSegment()
	cmd, trace := t.attachStrace(segment, syscallNames["write"]+","+syscallNames["fsync"], syscallNames[call]+":error="+failure)
	defer func() { _ = os.Remove(trace) }()
	t.Suppliers.SendLeads(fewLeads)
	moved := false
	witness.Await(t.reporter, "a call fails: "+call+" "+failure, func() bool {
		moved = t.ExitReport() == "" && t.lastSegment() != segment
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
	if err := cmd.Start(); err != nil {
		t.reporter.Fatal(err)
	}
	return cmd, trace
}

// expectFailure waits for the exchange to end with a positive exit code.
func (t *torture) expectFailure(why string) {
	if code := t.AwaitFailure(); code <= 0 {
		t.reporter.Errorf("after a %s the exchange must end with a positive exit code, but ended with %d:\n%s", why, code, t.LastLines())
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
	if err != nil {
		t.reporter.Fatal(err)
	}
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

// missingTrace returns the reason why processes cannot be traced, or "".
func missingTrace(t *torture) string {
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
