//go:build !unix

package connection

// MaxOpenFiles returns 0: this system has no limit that a program can query.
func MaxOpenFiles() uint64 { return 0 }
