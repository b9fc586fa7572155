//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package wal

import (
	"errors"
	"fmt"
	"os"
)

func lockDir(dir string) (*os.File, error) { return LockFile(dir) }

// LockFile always fails: without flock, two processes could write to one log.
func LockFile(path string) (*os.File, error) {
	return nil, fmt.Errorf("cannot lock %q: %w", path, errors.ErrUnsupported)
}
