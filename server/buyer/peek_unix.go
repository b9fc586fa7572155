//go:build unix

package buyer

import (
	"errors"
	"syscall"
)

// peek looks at a socket that does not block: is there a byte, an end, an error?
func peek(descriptor uintptr) bool {
	var one [1]byte
	for {
		_, _, err := syscall.Recvfrom(int(descriptor), one[:], syscall.MSG_PEEK)
		if !errors.Is(err, syscall.EINTR) {
			return !errors.Is(err, syscall.EAGAIN)
		}
	}
}
