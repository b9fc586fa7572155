//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// reporter collects findings. Fatal and Fatalf end the calling goroutine, which is the one that
// run started.
type reporter struct {
	ctx  context.Context
	logf func(format string, args ...any) // prints progress

	mu          sync.Mutex
	findingList []string
	cleanups    []func()
}

// run runs a function, and then its cleanups, last first.
func (c *reporter) run(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	<-done
	for i := len(c.cleanups) - 1; i >= 0; i-- {
		c.cleanups[i]()
	}
}

func (c *reporter) Helper() {}

func (c *reporter) Cleanup(f func()) { c.cleanups = append(c.cleanups, f) }

func (c *reporter) Error(args ...any) { c.addFinding(fmt.Sprint(args...)) }

func (c *reporter) Errorf(format string, args ...any) { c.addFinding(fmt.Sprintf(format, args...)) }

func (c *reporter) Fatal(args ...any) {
	c.addFinding(fmt.Sprint(args...))
	runtime.Goexit()
}

func (c *reporter) Fatalf(format string, args ...any) {
	c.addFinding(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (c *reporter) addFinding(finding string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.findingList = append(c.findingList, finding)
	c.logf("WRONG  %s", finding)
}

// findingsSoFar returns all findings.
func (c *reporter) findingsSoFar() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.findingList...)
}

// sinceStart returns the time since the start of the run.
func sinceStart(began time.Time) string {
	return time.Since(began).Round(100 * time.Millisecond).String()
}

// Context returns the context of the run.
func (c *reporter) Context() context.Context { return c.ctx }
