//go:build unix

package dial

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

// pushes tells whether push can be used.
const pushes = true

// push writes as much to a socket as it takes without blocking.
func push(descriptor uintptr, p []byte) (n int, err error) {
	for {
		n, err = syscall.Write(int(descriptor), p)
		switch {
		case err == nil:
			return n, nil
		case errors.Is(err, syscall.EAGAIN):
			return 0, nil
		case !errors.Is(err, syscall.EINTR):
			return 0, err
		}
	}
}
