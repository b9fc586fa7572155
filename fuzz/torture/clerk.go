//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// clerk takes down what is wrong. What is fatal ends the goroutine that says so,
// which is the one that run began.
type clerk struct {
	ctx context.Context
	say func(format string, args ...any) // tells whoever watches

	mu       sync.Mutex
	found    []string
	cleanups []func()
}

// run does something, and then what it was told to clean up, the last first.
func (c *clerk) run(do func()) {
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

func (c *clerk) Helper() {}

func (c *clerk) Cleanup(f func()) { c.cleanups = append(c.cleanups, f) }

func (c *clerk) Error(args ...any) { c.note(fmt.Sprint(args...)) }

func (c *clerk) Errorf(format string, args ...any) { c.note(fmt.Sprintf(format, args...)) }

func (c *clerk) Fatal(args ...any) {
	c.note(fmt.Sprint(args...))
	runtime.Goexit()
}

func (c *clerk) Fatalf(format string, args ...any) {
	c.note(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (c *clerk) note(finding string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = append(c.found, finding)
	c.say("WRONG  %s", finding)
}

// findings are all that was noted.
func (c *clerk) findings() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.found...)
}

// sinceStart says how far a run has come.
func sinceStart(began time.Time) string {
	return time.Since(began).Round(100 * time.Millisecond).String()
}

// Context is that of the whole run.
func (c *clerk) Context() context.Context { return c.ctx }
