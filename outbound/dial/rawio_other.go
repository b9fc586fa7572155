//go:build !unix

package dial

// hasInput returns false: this system offers no check of a socket that does not wait.
func hasInput(uintptr) bool { return false }

// canWriteRaw reports whether writeRaw works on this system.
const canWriteRaw = false

func writeRaw(uintptr, []byte) (int, error) { panic("BUG: writeRaw is not available on this system") }
