//go:build linux

package main

import (
	"syscall"
	"time"
)

// maxPause is the longest pause of a process.
const maxPause = 3 * time.Second

// The process stops for seconds, as on a machine that swaps. Clients repeat their requests, and
// every deadline passes.
var (
	_ = register(fault{name: "held for seconds", weight: 2, inject: func(t *torture) bool {
		t.Signal(syscall.SIGSTOP)
		time.Sleep(200 * time.Millisecond)
		t.sleepUpTo(maxPause - 200*time.Millisecond)
		t.Signal(syscall.SIGCONT)
		return true
	}})
	_ = register(fault{name: "killed while it is held", weight: 1, inject: func(t *torture) bool {
		t.Signal(syscall.SIGSTOP)
		t.sleepUpTo(maxPause / 3)
		t.Kill()
		t.Start()
		return true
	}})
	_ = register(fault{name: "killed just after it was held", weight: 1, inject: func(t *torture) bool {
		t.Signal(syscall.SIGSTOP)
		t.sleepUpTo(300 * time.Millisecond)
		t.Signal(syscall.SIGCONT)
		t.sleepUpTo(20 * time.Millisecond)
		t.Kill()
		t.Start()
		return true
	}})
)
