package main

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

// child is a process of ours, known by its id alone.
type child struct {
	name string
	log  string // file with what it says
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // then: how
}

// household is all that the demonstration has started, oldest first.
type household struct {
	dir      string
	children []*child
	died     chan error // gets the name of one that ended by itself
}

const (
	// patience is how long a child may take to start.
	patience = 20 * time.Second
	// grace is how long it may take to end before it is killed.
	grace = 10 * time.Second
)

// start starts this very program with other arguments.
func (h *household) start(name string, env []string, args ...string) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program to start it again: %w", err)
	}
	if h.died == nil {
		h.died = make(chan error, 1)
	}
	c := &child{name: name, log: filepath.Join(h.dir, name+".log"), done: make(chan struct{})}
	out, err := os.Create(c.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	c.cmd = exec.Command(program, args...)
	c.cmd.Stdout, c.cmd.Stderr = out, out
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.SysProcAttr = childAttributes()
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	h.children = append(h.children, c)
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
		select {
		case h.died <- fmt.Errorf("%s ended by itself (%w); its last words are in %s", name, orEnded(c.err), c.log):
		default:
		}
	}()
	return c, nil
}

func orEnded(err error) error {
	if err == nil {
		return errors.New("without an error")
	}
	return err
}

// says waits for a line of the child's that has the text, and returns the line.
func (c *child) says(ctx context.Context, text string) (string, error) {
	limit := time.Now().Add(patience)
	for {
		ended := c.ended() // before reading: what it said at its end is read as well
		said, err := os.ReadFile(c.log)
		if err != nil {
			return "", err
		}
		for found := range strings.Lines(string(said)) {
			if strings.Contains(found, text) && strings.HasSuffix(found, "\n") {
				return found, nil
			}
		}
		switch {
		case ended:
			return "", fmt.Errorf("%s did not start (%w):\n%s", c.name, orEnded(c.err), strings.TrimSpace(string(said)))
		case time.Now().After(limit):
			return "", fmt.Errorf("%s did not start within %s; see %s", c.name, patience, c.log)
		case !timer.WaitUntil(ctx, time.Now().Add(20*time.Millisecond)):
			return "", ctx.Err()
		}
	}
}

// stop ends the children, the youngest first: the exchange before the buyers
// that it may still be delivering to.
func (h *household) stop() error {
	var err error
	for i := len(h.children) - 1; i >= 0; i-- {
		err = errors.Join(err, h.children[i].stop())
	}
	h.children = nil
	return err
}

func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// stop asks the child to end, and kills it when it does not.
func (c *child) stop() error {
	if c.ended() {
		return nil // that is told where it was missed
	}
	if c.cmd.Process.Signal(syscall.SIGTERM) != nil {
		_ = c.cmd.Process.Kill() // a system without that signal
	}
	select {
	case <-c.done:
	case <-time.After(grace):
		_ = c.cmd.Process.Kill()
		<-c.done
		return fmt.Errorf("%s did not end within %s and was killed; see %s", c.name, grace, c.log)
	}
	var exit *exec.ExitError
	if errors.As(c.err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGTERM {
			return nil // asked so early that it did not listen yet
		}
	}
	if c.err != nil {
		return fmt.Errorf("%s did not end well: %w; see %s", c.name, c.err, c.log)
	}
	return nil
}

// serves waits until the exchange says where it serves a tenant.
func (c *child) serves(ctx context.Context, tenant string) (public, private string, err error) {
	text, err := c.says(ctx, `"msg":"serving","tenant":"`+tenant+`"`)
	if err != nil {
		return "", "", err
	}
	var serving struct{ Listen, Admin string }
	if err := json.Unmarshal([]byte(text), &serving); err != nil {
		return "", "", fmt.Errorf("cannot read where the exchange serves: %w", err)
	}
	return serving.Listen, "http://" + serving.Admin, nil
}
