package main

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"pingpost/internal/gcpace"
)

// setGoRuntimeDefaults sets the Go runtime's parameters, unless the environment sets them (GOMAXPROCS,
// GOGC, GOMEMLIMIT). Until stop is called, GOGC follows the live data.
//
// The committer's fsync occupies one of the runtime's processors until the runtime notices.
// So there is one processor more than cores: otherwise requests on a single core would wait
// for the disk. Package gcpace limits the growth of the heap. Above four fifths of the memory of the
// machine or its container, the collector works harder.
func setGoRuntimeDefaults() (stop func()) {
	stop = func() {}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
	if os.Getenv("GOGC") == "" {
		stop = gcpace.Start()
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return stop
	}
	limit := min(readMemoryLimit("/proc/meminfo", parseMemTotal), readMemoryLimit("/sys/fs/cgroup/memory.max", parseByteCount))
	if limit != math.MaxInt64 {
		debug.SetMemoryLimit(limit / 5 * 4)
	}
	return stop
}

// readMemoryLimit reads a memory limit in bytes from a file of the system. It returns math.MaxInt64 if
// the file cannot be read or has no limit.
func readMemoryLimit(path string, parse func([]byte) (int64, bool)) (bytesOrMaxInt64 int64) {
	text, err := os.ReadFile(path)
	if err != nil {
		return math.MaxInt64
	}
	limit, ok := parse(text)
	if !ok || limit <= 0 {
		return math.MaxInt64
	}
	return limit
}

func parseByteCount(text []byte) (byteCount int64, ok bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return n, err == nil
}

// parseMemTotal returns the machine's memory in bytes from a line such as "MemTotal:
// 24617736 kB".
func parseMemTotal(text []byte) (memoryBytes int64, ok bool) {
	_, rest, found := bytes.Cut(text, []byte("MemTotal:"))
	fields := bytes.Fields(rest)
	if !found || len(fields) < 2 {
		return 0, false
	}
	kilobytes, err := strconv.ParseInt(string(fields[0]), 10, 64)
	return kilobytes << 10, err == nil && kilobytes < math.MaxInt64>>10
}
