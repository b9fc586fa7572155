// Package child starts this program again as child processes, waits for their output, and
// stops them.
package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"pingpost/internal/timer"
)

// Process is a child process that runs this program with other arguments.
type Process struct {
	name string
	Log  string // path of the file with its output
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // the result of the process, valid after done
}

// ProcessList is a list of child processes that are stopped together. The oldest is first.
type ProcessList struct {
	Dir       string // folder of the output files
	processes []*Process
}

const (
	// StartTimeout limits the start of a process. A process that ends is reported at once, so
	// the limit is generous: ten thousand campaigns on a busy machine need half a minute, and
	// more in a program with the race detector.
	StartTimeout = 5 * time.Minute
	// stopTimeout limits the stop of a process; then it is killed. It is generous too, because
	// a stop writes a snapshot and the disk may be busy.
	stopTimeout = time.Minute
)

// StartThisProgram starts this program as a child process with the given arguments and additional
// environment variables. processName names the process in messages and its output file.
func (g *ProcessList) StartThisProgram(processName string, extraEnv []string, args ...string) (*Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find the path of this program to start it again: %w", err)
	}
	c := &Process{name: processName, Log: filepath.Join(g.Dir, processName+".log"), done: make(chan struct{})}
	out, err := os.Create(c.Log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	c.cmd = exec.Command(program, args...)
	c.cmd.Stdout, c.cmd.Stderr = out, out
	c.cmd.Env = append(os.Environ(), extraEnv...)
	c.cmd.SysProcAttr = childAttributes()
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", processName, err)
	}
	g.processes = append(g.processes, c)
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// WaitForLine waits until the process prints a line that contains the text, and returns that
// line. It fails if the process ends without such a line, after StartTimeout, or when ctx ends.
func (c *Process) WaitForLine(ctx context.Context, substring string) (line string, err error) {
	limit := time.Now().Add(StartTimeout)
	for {
		ended := c.hasEnded() // before reading, so that the last output is read too
		output, err := os.ReadFile(c.Log)
		if err != nil {
			return "", err
		}
		for found := range strings.Lines(string(output)) {
			if strings.Contains(found, substring) && strings.HasSuffix(found, "\n") {
				return found, nil
			}
		}
		switch {
		case ended:
			return "", fmt.Errorf("process %s did not start (%s):\n%s", c.name, c.cmd.ProcessState, strings.TrimSpace(string(output)))
		case time.Now().After(limit):
			return "", fmt.Errorf("process %s did not start within %s; its output is in %s", c.name, StartTimeout, c.Log)
		case !timer.WaitUntil(ctx, time.Now().Add(20*time.Millisecond)):
			return "", ctx.Err()
		}
	}
}

// StopAll stops the list's processes, the youngest first: the exchange before the buyers to
// which it may still deliver leads.
func (g *ProcessList) StopAll() error {
	var err error
	for i := len(g.processes) - 1; i >= 0; i-- {
		err = errors.Join(err, g.processes[i].terminateOrKill())
	}
	g.processes = nil
	return err
}

// hasEnded reports whether the process has ended.
func (c *Process) hasEnded() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// terminateOrKill asks the process to end (SIGTERM) and waits. It kills a process that does
// not end within stopTimeout, which is an error. So is the failure of a process that ended earlier.
func (c *Process) terminateOrKill() error {
	if c.cmd.Process.Signal(syscall.SIGTERM) != nil {
		_ = c.cmd.Process.Kill() // the process has ended, or this system has no SIGTERM
	}
	select {
	case <-c.done:
	case <-time.After(stopTimeout):
		_ = c.cmd.Process.Kill()
		<-c.done
		return fmt.Errorf("process %s did not stop within %s, so it was killed; its output is in %s", c.name, stopTimeout, c.Log)
	}
	var exit *exec.ExitError
	if errors.As(c.err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGTERM {
			return nil // the process had not installed its signal handler yet
		}
	}
	if c.err != nil {
		return fmt.Errorf("process %s ended with an error: %w; its output is in %s", c.name, c.err, c.Log)
	}
	return nil
}

// WaitForExchange waits until the exchange in this process serves the tenant. It returns the
// host and port for suppliers and buyers (publicAddress) and the operators' URL (adminURL).
func (c *Process) WaitForExchange(ctx context.Context, tenant string) (publicAddress, adminURL string, err error) {
	text, err := c.WaitForLine(ctx, `"msg":"serving","tenant":"`+tenant+`"`)
	if err != nil {
		return "", "", err
	}
	var serving struct{ Listen, Admin string }
	if err := json.Unmarshal([]byte(text), &serving); err != nil {
		return "", "", fmt.Errorf("cannot read the exchange's addresses from its line \"serving\": %w", err)
	}
	return serving.Listen, "http://" + serving.Admin, nil
}

// Signal sends an operating system signal to the process.
func (c *Process) Signal(signal os.Signal) error { return c.cmd.Process.Signal(signal) }
