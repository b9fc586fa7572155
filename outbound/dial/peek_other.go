//go:build !unix

package dial

// peek sees nothing: there is no looking at a socket here that does not wait.
func peek(uintptr) bool { return false }

// pushes tells whether push can be used.
const pushes = false

func push(uintptr, []byte) (int, error) { panic("BUG: a push where there is none") }
