//go:build !unix

package connection

// Descriptors returns 0: this system has no limit that a program can query.
func Descriptors() uint64 { return 0 }
