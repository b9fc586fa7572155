//go:build !linux

package child

import (
	"syscall"
)

// childAttributes returns nil: a terminal's Ctrl-C reaches the child processes too, and
// each ends by itself.
func childAttributes() *syscall.SysProcAttr { return nil }
