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

// Errors of the disk, made by strace in the exchange's own calls on the log's last
// segment: the first of a kind fails, once. From then on the log has failed, and the
// exchange has to end, though the disk would take the next write.
var (
	_ = register(fault{name: "EIO from a write", weight: 1, lacks: noTrace, strike: func(t *torture) bool { return t.inject("write", "EIO") }})
	_ = register(fault{name: "ENOSPC from a write", weight: 1, lacks: noTrace, strike: func(t *torture) bool { return t.inject("write", "ENOSPC") }})
	_ = register(fault{name: "EIO from an fsync", weight: 2, lacks: noTrace, strike: func(t *torture) bool { return t.inject("fsync", "EIO") }})
	_ = register(fault{name: "ENOSPC from an fsync", weight: 1, lacks: noTrace, strike: func(t *torture) bool { return t.inject("fsync", "ENOSPC") }})
)

// calls are what a write or an fsync may be on Linux.
var calls = map[string]string{"write": "write,pwrite64,writev", "fsync": "fsync,fdatasync"}

// inject has the next call of a kind fail, and sees the exchange end. It is false where
// the log went on in another segment before that.
func (t *torture) inject(call, failure string) bool {
	segment := t.segment()
	trace := filepath.Join(t.dir, "trace")
	defer func() { _ = os.Remove(trace) }()
	cmd := exec.Command("strace", "-f", "-o", trace, "-P", segment, "-e", "trace="+calls["write"]+","+calls["fsync"],
		"-e", "inject="+calls[call]+":error="+failure+":when=1", "-p", strconv.Itoa(t.Pid()))
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.clerk.Fatal(err)
	}
	t.Suppliers.SendLeads(few)
	moved := false
	witness.Await(t.clerk, "a call fails: "+call+" "+failure, func() bool {
		moved = t.ExitReport() == "" && t.segment() != segment
		return moved || strings.Contains(read(trace), "(INJECTED)")
	})
	if moved {
		_ = cmd.Process.Signal(os.Interrupt) // it lets the exchange go
		_ = cmd.Wait()
		return false
	}
	t.gaveUp(call + " with " + failure)
	_ = cmd.Wait()
	if call == "fsync" {
		t.drop(segment, read(trace))
	}
	t.Start()
	return true
}

// gaveUp waits until the exchange has ended for a fault, with a code that says so.
func (t *torture) gaveUp(why string) {
	if code := t.AwaitFailure(); code <= 0 {
		t.clerk.Errorf("after a %s the exchange ended with %d:\n%s", why, code, t.LastLines())
	}
}

// drop takes from the log what an fsync failed for: some of the bytes that were written
// to the segment since the one before it. The kernel marks such pages clean, and forgets
// them when it likes. Nobody may have been told of any.
func (t *torture) drop(segment, trace string) {
	n := unsynced(trace)
	if n == 0 {
		return
	}
	info, err := os.Stat(segment)
	if err == nil {
		err = os.Truncate(segment, info.Size()-1-t.chance.Int64N(n))
	}
	if err != nil {
		t.clerk.Fatal(err)
	}
}

var written = regexp.MustCompile(`(?:write|pwrite64|writev)(?:\(.*| resumed>.*) = (\d+)$`)

// unsynced adds up the writes of a trace that begins before the fsync that failed, and
// ends with it.
func unsynced(trace string) (sum int64) {
	for text := range strings.Lines(trace) {
		text = strings.TrimSuffix(text, "\n")
		if strings.Contains(text, "(INJECTED)") {
			return sum
		}
		if m := written.FindStringSubmatch(text); m != nil {
			n, _ := strconv.ParseInt(m[1], 10, 64)
			sum += n
		}
	}
	return sum
}

// noTrace says why no process can be traced here.
func noTrace(t *torture) string {
	if _, err := exec.LookPath("strace"); err != nil {
		return "there is no strace"
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

func read(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}
