package wal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncRead fsyncs a file that was opened for reading. Where that cannot be asked
// for, as on a read-only medium, nothing is unwritten.
func syncRead(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EROFS) || errors.Is(err, unix.EBADF) {
		return nil
	}
	return err
}

// flushRange hands a range of the file to the disk and waits for it, so that the
// fsync at the end finds little, and the committer's own never waits behind all of it.
func flushRange(f *os.File, off, n int64) error {
	const flags = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	err := unix.SyncFileRange(int(f.Fd()), off, n, flags)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) {
		return f.Sync()
	}
	return err
}

// forget drops the file from the page cache, so that the next read is the disk's.
func forget(f *os.File) error {
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// noReadAhead keeps the kernel from reading more of the file than it is asked for: the
// committer's fsync would wait behind that.
func noReadAhead(f *os.File) error {
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM)
}

// Free returns how many bytes an unprivileged process can still write to the file
// system that holds dir.
func Free(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return s.Bavail * uint64(s.Bsize), nil
}
