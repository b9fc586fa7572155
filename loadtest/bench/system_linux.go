package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// availableCores returns the cores that this process may use.
func availableCores() (list []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for core := range len(set) * 64 {
		if set.IsSet(core) {
			list = append(list, core)
		}
	}
	return list
}

// startOn starts a command on some cores, or on any core for an empty list. A child
// inherits the cores of the thread that starts it, so that thread is pinned meanwhile. The
// child is killed when this process ends.
func startOn(cmd *exec.Cmd, list []int) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if len(list) == 0 {
		return cmd.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	for _, core := range list {
		set.Set(core)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return os.NewSyscallError("sched_setaffinity", err)
	}
	started := cmd.Start()
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		return os.NewSyscallError("sched_setaffinity", err)
	}
	return started
}

// pause and resume stop and continue a process.
func pause(p *os.Process) error  { return p.Signal(syscall.SIGSTOP) }
func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

// delaySyncs delays each fsync of a process, with strace, until end is called. A call that begins after
// delaySyncs returns is delayed. It returns errors.ErrUnsupported without strace.
func delaySyncs(ctx context.Context, p *os.Process, delay time.Duration) (end func(), err error) {
	if _, err := exec.LookPath("strace"); err != nil {
		return nil, errors.ErrUnsupported
	}
	cmd := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=fsync,fdatasync",
		"-e", fmt.Sprintf("inject=fsync,fdatasync:delay_enter=%d", delay.Microseconds()), "-p", strconv.Itoa(p.Pid))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end = func() {
		_ = cmd.Process.Signal(os.Interrupt) // it detaches, and ends with this signal
		_ = cmd.Wait()
	}
	for deadline := time.Now().Add(traceTimeout); !isTraced(p.Pid); time.Sleep(time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(deadline) {
			end()
			return nil, errors.Join(errors.New("strace cannot attach to a node; it needs root"), ctx.Err())
		}
	}
	return end, nil
}

const traceTimeout = 5 * time.Second // to attach to all threads of a process

// isTraced reports whether all threads of a process are traced.
func isTraced(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, path := range threads {
		text, failed := os.ReadFile(path)
		if failed == nil && strings.Contains(string(text), "TracerPid:\t0\n") {
			return false
		}
	}
	return err == nil && len(threads) > 0
}
