//go:build linux

package main

import (
	"syscall"
	"time"
)

// The plain ends of a process: at once, while it stops, while it reads a new
// configuration, and again while it replays its log.
var (
	_ = register(fault{name: "killed", weight: 3, strike: func(t *torture) bool {
		t.within(8 * time.Millisecond)
		t.Kill()
		t.Start()
		return true
	}})
	_ = register(fault{name: "killed again in its replay", weight: 2, strike: func(t *torture) bool {
		t.Kill()
		for range 1 + t.chance.IntN(2) {
			t.Launch()
			t.within(t.Startup())
			t.Kill()
		}
		t.Start()
		return true
	}})
	_ = register(fault{name: "killed in an orderly stop", weight: 2, strike: func(t *torture) bool {
		t.Signal(syscall.SIGTERM)
		t.within(200 * time.Millisecond)
		killed := t.Kill()
		t.Start()
		return killed
	}})
	_ = register(fault{name: "killed in a reload", weight: 1, strike: func(t *torture) bool {
		t.WriteNextConfig()
		t.Signal(syscall.SIGHUP)
		t.within(15 * time.Millisecond)
		t.Kill()
		t.Start()
		return true
	}})
	_ = register(fault{name: "stopped in order", weight: 1, strike: func(t *torture) bool {
		t.Stop()
		t.Start()
		return true
	}})
)
