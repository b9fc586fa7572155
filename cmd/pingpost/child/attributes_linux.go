package child

import (
	"syscall"
)

// childAttributes returns the system attributes of a child process. The terminal's Ctrl-C
// does not reach the child, because StopAll ends the children in order. The kernel ends them
// if this process is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
