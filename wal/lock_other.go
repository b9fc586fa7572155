//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package wal

import (
	"errors"
	"fmt"
	"os"
)

// lock refuses: without flock, two processes could write to one log.
func lock(dir string) (*os.File, error) {
	return nil, fmt.Errorf("cannot lock %q: %w", dir, errors.ErrUnsupported)
}
