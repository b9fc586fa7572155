//go:build !linux

package wal

import (
	"math"
	"os"
)

// syncRead does nothing: not every system lets a reader fsync.
func syncRead(*os.File) error { return nil }

// flushRange fsyncs the whole file.
func flushRange(f *os.File, _, _ int64) error { return f.Sync() }

// forget does nothing: the read back may then come from the page cache.
func forget(*os.File) error { return nil }

// noReadAhead does nothing.
func noReadAhead(*os.File) error { return nil }

// Free does not know how much can be written here, and sets no limit.
func Free(string) (uint64, error) { return math.MaxUint64, nil }
