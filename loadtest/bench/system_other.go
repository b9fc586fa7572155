//go:build !linux

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"
)

// On other systems no process is pinned or paused, and no disk stalls.

func availableCores() []int                { return nil }
func startOn(cmd *exec.Cmd, _ []int) error { return cmd.Start() }
func pause(*os.Process) error              { return nil }
func resume(*os.Process) error             { return nil }

func delaySyncs(context.Context, *os.Process, time.Duration) (end func(), err error) {
	return nil, errors.ErrUnsupported
}
