//go:build unix

package connection

import (
	"syscall"
)

// MaxOpenFiles returns how many files the process may have open, or 0 if that is unknown. Go
// has already raised the limit as far as the system allows.
func MaxOpenFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return min(uint64(limit.Cur), 1<<31-1) //nolint:unconvert // signed on some systems
}
