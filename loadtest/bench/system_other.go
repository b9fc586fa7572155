//go:build !linux

package main

import (
	"os"
	"os/exec"
)

// On other systems no process is pinned or paused.

func availableCores() []int                { return nil }
func startOn(cmd *exec.Cmd, _ []int) error { return cmd.Start() }
func pause(*os.Process) error              { return nil }
func resume(*os.Process) error             { return nil }
