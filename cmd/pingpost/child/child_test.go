package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

const (
	// asProgram in the environment makes the test binary the program that StartThisProgram starts.
	asProgram = "PINGPOST_TEST_AS_PROGRAM"
	// endOrder names a file to which each buyer appends its address when it ends.
	endOrder = "PINGPOST_TEST_END_ORDER"
)

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
	if file, err := os.OpenFile(os.Getenv(endOrder), os.O_APPEND|os.O_WRONLY, 0); err == nil {
		fmt.Fprintln(file, os.Args[len(os.Args)-1])
	}
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

// TestChildThatDies: the group reports a process that failed before it was stopped.
func TestChildThatDies(t *testing.T) {
	h := newGroup(t)
	c := must.Value(h.StartThisProgram("buy_a", []string{"PINGPOST_BUYER_TOKEN=secret"}, "buyer", "--listen", "127.0.0.1:0"))(t)
	must.Value(c.WaitForLine(t.Context(), "reference buyer on"))(t)
	must.Succeed(t, c.cmd.Process.Kill())
	<-c.done
	if err := h.StopAll(); err == nil || !strings.Contains(err.Error(), "process buy_a ended with an error: signal: killed") || !strings.Contains(err.Error(), c.Log) {
		t.Error(err)
	}
}

// TestChildrenEndInOrder: the youngest process ends first.
func TestChildrenEndInOrder(t *testing.T) {
	h := newGroup(t)
	ends := filepath.Join(h.Dir, "ends")
	must.Succeed(t, os.WriteFile(ends, nil, 0o600))
	for _, name := range []string{"first", "second"} {
		c := must.Value(h.StartThisProgram(name, []string{endOrder + "=" + ends}, "buyer", "--listen", name))(t)
		must.Value(c.WaitForLine(t.Context(), "reference buyer on"))(t)
	}
	must.Succeed(t, h.StopAll())
	if order := must.Value(os.ReadFile(ends))(t); string(order) != "second\nfirst\n" || len(h.processes) != 0 {
		t.Errorf("they ended in the order %q, and %d are left", order, len(h.processes))
	}
	must.Succeed(t, h.StopAll())
}

func TestLinesOfAChild(t *testing.T) {
	h := &ProcessGroup{Dir: t.TempDir()}
	c := &Process{name: "it", Log: filepath.Join(h.Dir, "it.log"), cmd: new(exec.Cmd), done: make(chan struct{})}
	must.Succeed(t, os.WriteFile(c.Log, []byte("one\nserving here\nserving th"), 0o600))
	if got, err := c.WaitForLine(t.Context(), "serving"); err != nil || got != "serving here\n" {
		t.Errorf("%q, %v", got, err)
	}
	close(c.done)
	if _, err := c.WaitForLine(t.Context(), "serving th"); err == nil {
		t.Error("WaitForLine returned a line without its end")
	}
}
