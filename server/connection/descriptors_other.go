//go:build !unix

package connection

// MaxOpenFiles returns 0 for unknown, because a program cannot query the limit of open files on
// this system.
func MaxOpenFiles() uint64 { return 0 }
