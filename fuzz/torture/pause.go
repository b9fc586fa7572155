//go:build linux

package main

import (
	"syscall"
	"time"
)

// longest is how long a process is held at most.
const longest = 3 * time.Second

// A process that stands still for seconds, as on a machine that swaps: what it was
// asked meanwhile was asked again by others, and every deadline has passed.
var (
	_ = register(fault{name: "held for seconds", weight: 2, strike: func(t *torture) bool {
		t.Signal(syscall.SIGSTOP)
		time.Sleep(200 * time.Millisecond)
		t.within(longest - 200*time.Millisecond)
		t.Signal(syscall.SIGCONT)
		return true
	}})
	_ = register(fault{name: "killed while it is held", weight: 1, strike: func(t *torture) bool {
		t.Signal(syscall.SIGSTOP)
		t.within(longest / 3)
		t.Kill()
		t.Start()
		return true
	}})
)
