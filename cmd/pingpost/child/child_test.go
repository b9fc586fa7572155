package child

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pingpost/internal/must"
)

// asProgram in the environment makes the test binary the program that StartThisProgram starts.
const asProgram = "PINGPOST_TEST_AS_PROGRAM"

// TestMain runs the tests, or a program with two commands: buyer runs until SIGTERM, and
// serve fails.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	if os.Args[1] != "buyer" {
		fmt.Fprintln(os.Stderr, strings.Join(os.Args, " "))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println("reference buyer on http://127.0.0.1:1")
	<-ctx.Done()
}

func newGroup(t *testing.T) *ProcessGroup {
	t.Helper()
	t.Setenv(asProgram, "1")
	h := &ProcessGroup{Dir: t.TempDir()}
	t.Cleanup(func() { _ = h.StopAll() })
	return h
}

func TestChildThatDoesNotStart(t *testing.T) {
	h := newGroup(t)
	c := must.Value(h.StartThisProgram("exchange", nil, "serve", "--config", filepath.Join(h.Dir, "gone.yaml")))(t)
	_, err := c.WaitForLine(t.Context(), "serving")
	if err == nil || !strings.Contains(err.Error(), "exchange did not start") || !strings.Contains(err.Error(), "gone.yaml") {
		t.Errorf("%v", err)
	}
}

func TestChildIsLeftWaiting(t *testing.T) {
	h := newGroup(t)
	c := must.Value(h.StartThisProgram("buy_a", nil, "buyer", "--listen", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.WaitForLine(ctx, "never printed"); err == nil {
		t.Error("WaitForLine returned a line that was never printed")
	}
	if err := h.StopAll(); err != nil {
		t.Error(err)
	}
}

// TestChildThatDies: the group reports a process that ends by itself.
func TestChildThatDies(t *testing.T) {
	h := newGroup(t)
	c := must.Value(h.StartThisProgram("buy_a", []string{"PINGPOST_BUYER_TOKEN=secret"}, "buyer", "--listen", "127.0.0.1:0"))(t)
	must.Value(c.WaitForLine(t.Context(), "reference buyer on"))(t)
	must.Succeed(t, c.cmd.Process.Kill())
	select {
	case err := <-h.exited:
		if !strings.Contains(err.Error(), "process buy_a ended unexpectedly") || !strings.Contains(err.Error(), c.Log) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the group did not report the death")
	}
}

// TestChildrenEndInOrder: the youngest process ends first.
func TestChildrenEndInOrder(t *testing.T) {
	h := newGroup(t)
	for _, name := range []string{"first", "second"} {
		c := must.Value(h.StartThisProgram(name, nil, "buyer", "--listen", "127.0.0.1:0"))(t)
		must.Value(c.WaitForLine(t.Context(), "reference buyer on"))(t)
	}
	must.Succeed(t, h.StopAll())
	if err := <-h.exited; !strings.Contains(err.Error(), "second ended") {
		t.Errorf("%v, want the second", err)
	}
	if len(h.processes) != 0 {
		t.Errorf("%d children are left", len(h.processes))
	}
	if err := h.StopAll(); err != nil {
		t.Error(err)
	}
}

func TestLinesOfAChild(t *testing.T) {
	h := &ProcessGroup{Dir: t.TempDir()}
	c := &Process{name: "it", Log: filepath.Join(h.Dir, "it.log"), done: make(chan struct{})}
	must.Succeed(t, os.WriteFile(c.Log, []byte("one\nserving here\nserving th"), 0o600))
	if got, err := c.WaitForLine(t.Context(), "serving"); err != nil || got != "serving here\n" {
		t.Errorf("%q, %v", got, err)
	}
	close(c.done)
	if _, err := c.WaitForLine(t.Context(), "serving th"); err == nil {
		t.Error("WaitForLine returned a line without its end")
	}
}
