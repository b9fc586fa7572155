//go:build !linux

package wal

import (
	"math"
	"os"
)

// syncRead does nothing: some systems reject an fsync by a reader.
func syncRead(*os.File) error { return nil }

// flushRange fsyncs the whole file.
func flushRange(f *os.File, _, _ int64) error { return f.Sync() }

// dropCache does nothing: the verification may then read from the page cache.
func dropCache(*os.File) error { return nil }

// disableReadAhead does nothing.
func disableReadAhead(*os.File) error { return nil }

// Free returns no limit, because this system's free space is unknown.
func Free(string) (uint64, error) { return math.MaxUint64, nil }
