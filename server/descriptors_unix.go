//go:build unix

package server

import "syscall"

// descriptors is the limit of open files, which Go has raised as far as the
// process may at its start.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return min(uint64(limit.Cur), 1<<31-1) //nolint:unconvert // signed on some systems
}
