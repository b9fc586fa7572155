//go:build !unix

package dial

// hasInputOrEnd always returns false, because this system cannot check a socket for data without
// waiting.
func hasInputOrEnd(uintptr) bool { return false }

// canWriteRaw reports whether writeRaw works on this system.
const canWriteRaw = false

func writeRaw(uintptr, []byte) (int, error) { panic("BUG: writeRaw is not available on this system") }
