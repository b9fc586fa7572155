package wal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// fsyncIfSupported fsyncs a file that is open only for reading. If the medium does not support
// that, for example because it is read-only, no write can be pending, and fsyncIfSupported
// returns nil.
func fsyncIfSupported(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EROFS) || errors.Is(err, unix.EBADF) {
		return nil
	}
	return err
}

// flushRange writes n bytes of the file from offset off to the disk and waits for it. The
// fsync at the end then has little left to write, and the committer's fsync never waits
// behind the whole file.
func flushRange(f *os.File, off, n int64) error {
	const flags = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	err := unix.SyncFileRange(int(f.Fd()), off, n, flags)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) {
		return f.Sync()
	}
	return err
}

// dropCache drops the file from the page cache, so that the next read comes from the disk.
func dropCache(f *os.File) error {
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// disableReadAhead stops the kernel from reading more of the file than a program requests.
// The committer's fsync would wait behind such reads.
func disableReadAhead(f *os.File) error {
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM)
}

// FreeDiskSpace returns how many bytes an unprivileged process can still write to the file
// system that holds dir.
func FreeDiskSpace(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return s.Bavail * uint64(s.Bsize), nil
}
