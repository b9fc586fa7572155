//go:build unix

package dial

import (
	"errors"
	"syscall"
)

// hasInput reports whether a non-blocking socket has a byte, its end or an error to read.
func hasInput(descriptor uintptr) bool {
	var one [1]byte
	for {
		_, _, err := syscall.Recvfrom(int(descriptor), one[:], syscall.MSG_PEEK)
		if !errors.Is(err, syscall.EINTR) {
			return !errors.Is(err, syscall.EAGAIN)
		}
	}
}

// canWriteRaw reports whether writeRaw works on this system.
const canWriteRaw = true

// writeRaw writes as many bytes as the socket accepts without blocking.
func writeRaw(descriptor uintptr, p []byte) (n int, err error) {
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
