//go:build !linux

package wal

import (
	"math"
	"os"
)

// fsyncIfSupported does nothing, because some systems reject an fsync of a file that is open
// only for reading.
func fsyncIfSupported(*os.File) error { return nil }

// flushRange fsyncs the whole file, because this system cannot flush a part of it.
func flushRange(f *os.File, _, _ int64) error { return f.Sync() }

// dropCache does nothing, because this system has no call for it. The verification of a
// snapshot may then read from the page cache instead of the disk.
func dropCache(*os.File) error { return nil }

// disableReadAhead does nothing.
func disableReadAhead(*os.File) error { return nil }

// FreeDiskSpace returns no limit, because this system's free space is unknown.
func FreeDiskSpace(string) (uint64, error) { return math.MaxUint64, nil }
