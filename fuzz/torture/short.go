//go:build linux

package main

import (
	"os"

	"golang.org/x/sys/unix"

	"pingpost/fuzz/witness"
)

// A write that the system takes the first part of: the process may not make a file
// longer than the log's last segment and some bytes. What stands there then is half a
// batch, and nobody may have been told of it.
var _ = register(fault{name: "short write", weight: 2, lacks: noLimit, strike: func(t *torture) bool {
	segment := t.segment()
	info, err := os.Stat(segment)
	if err != nil {
		return false // it has just begun another
	}
	limit := unix.Rlimit{Cur: uint64(info.Size()) + 1 + t.chance.Uint64N(300), Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(t.Pid(), unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.clerk.Fatal(err)
	}
	t.Suppliers.SendLeads(few)
	witness.Await(t.clerk, "the log cannot grow", func() bool { return t.ExitReport() != "" || t.segment() != segment })
	if t.ExitReport() == "" {
		t.Kill()
		t.Start()
		return false
	}
	t.gaveUp("short write")
	t.Start()
	return true
}})

// noLimit says why the limits of another process cannot be set here.
func noLimit(*torture) string {
	var now unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, nil, &now); err != nil {
		return "prlimit: " + err.Error()
	}
	return ""
}
