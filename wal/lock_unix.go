//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lockDir locks the log's folder, so that only this process writes to it. Closing the
// returned file releases the lock.
func lockDir(dir string) (*os.File, error) { return LockFile(filepath.Join(dir, "LOCK")) }

// LockFile locks a file for this process. The kernel releases the lock when the file is closed or the
// process ends in any way. If another process, or an earlier call in this one, has the lock, the error
// wraps ErrLocked and gives that process's id.
func LockFile(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, filePerm)
	if err != nil {
		return nil, fmt.Errorf("cannot lock %q: %w", dir, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(path) // the holder's process id, for the message
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("cannot lock %q (held by process %s): %w", dir, strings.TrimSpace(string(holder)), ErrLocked)
		}
		return nil, fmt.Errorf("cannot lock %q: %w", path, err)
	}
	if err := errors.Join(f.Truncate(0), overwriteFirstBytes(f, strconv.Itoa(os.Getpid())+"\n")); err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot lock %q: %w", path, err)
	}
	return f, nil
}

func overwriteFirstBytes(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}
