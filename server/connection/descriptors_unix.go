//go:build unix

package connection

import (
	"syscall"
)

// MaxOpenFiles returns the limit of open files. Go raises the soft limit to the hard limit
// at process start.
func MaxOpenFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return min(uint64(limit.Cur), 1<<31-1) //nolint:unconvert // signed on some systems
}
