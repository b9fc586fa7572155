package main

import (
	"syscall"
)

// childAttributes keep the terminal's Ctrl-C from the children, which are ended
// in order, and end them when this process is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
