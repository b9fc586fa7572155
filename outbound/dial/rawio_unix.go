//go:build unix

package dial

import (
	"errors"
	"syscall"
)

// hasInputOrEnd reports whether a read from the non-blocking socket would return at once: with data,
// with its end or with an error.
func hasInputOrEnd(descriptor uintptr) bool {
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

// writeRaw writes as many bytes of p as the socket accepts without blocking, and returns their
// number n.
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
