//go:build !linux

package main

import (
	"syscall"
)

// childAttributes are none: where a terminal's Ctrl-C reaches the children as
// well, each ends in order by itself.
func childAttributes() *syscall.SysProcAttr { return nil }
