//go:build linux

package main

import (
	"os"

	"golang.org/x/sys/unix"

	"pingpost/fuzz/witness"
)

// A write of which the system accepts only the first part: a limit stops the log's last segment
// from growing by more than some bytes. The file then ends with half a batch that no output
// relies on.
var _ = register(fault{name: "short write", weight: 2, missing: missingLimit, inject: func(t *torture) bool {
	segment := t.lastSegment()
	info, err := os.Stat(segment)
	if err != nil {
		return false // the log has just started another segment
	}
	limit := unix.Rlimit{Cur: uint64(info.Size()) + 1 + t.random.Uint64N(300), Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(t.Pid(), unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.reporter.Fatal(err)
	}
	t.Suppliers.SendLeads(fewLeads)
	witness.Await(t.reporter, "the log cannot grow", func() bool { return t.ExitReport() != "" || t.lastSegment() != segment })
	if t.ExitReport() == "" {
		t.Kill()
		t.Start()
		return false
	}
	t.expectFailure("short write")
	t.Start()
	return true
}})

// missingLimit returns the reason why another process cannot be limited, or "".
func missingLimit(*torture) string {
	var now unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, nil, &now); err != nil {
		return "prlimit: " + err.Error()
	}
	return ""
}
