package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

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
