package child

import (
	"syscall"
)

// childAttributes keep the terminal's Ctrl-C from the child processes, which Stop ends in
// order. The kernel ends them if this process is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
