//go:build !linux

package child

import (
	"syscall"
)

// childAttributes returns nil, because the attributes for Linux do not exist here. A
// terminal's Ctrl-C reaches the child processes too, and each ends by itself.
func childAttributes() *syscall.SysProcAttr { return nil }
