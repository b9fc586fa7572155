//go:build linux

package main

import (
	"syscall"
	"time"
)

// Plain ends of the process: at once, during a stop, during a reload, and again during the
// replay.
var (
	_ = register(fault{name: "killed", weight: 3, inject: func(t *torture) bool {
		t.sleepUpTo(8 * time.Millisecond)
		t.Kill()
		t.Start()
		return true
	}})
	_ = register(fault{name: "killed again in its replay", weight: 2, inject: func(t *torture) bool {
		t.Kill()
		for range 1 + t.random.IntN(2) {
			t.Launch()
			t.sleepUpTo(t.Startup())
			t.Kill()
		}
		t.Start()
		return true
	}})
	_ = register(fault{name: "killed in an orderly stop", weight: 2, inject: func(t *torture) bool {
		t.Signal(syscall.SIGTERM)
		t.sleepUpTo(200 * time.Millisecond)
		killed := t.Kill()
		t.Start()
		return killed
	}})
	_ = register(fault{name: "killed in a reload", weight: 1, inject: func(t *torture) bool {
		t.WriteNextConfig()
		t.Signal(syscall.SIGHUP)
		t.sleepUpTo(15 * time.Millisecond)
		t.Kill()
		t.Start()
		return true
	}})
	_ = register(fault{name: "stopped in order", weight: 1, inject: func(t *torture) bool {
		t.Stop()
		t.Start()
		return true
	}})
)
