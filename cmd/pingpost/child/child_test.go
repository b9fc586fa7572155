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
	// exitOrder names a file to which each buyer appends its address when it ends.
	exitOrder = "PINGPOST_TEST_END_ORDER"
)

// TestMain runs the tests, or a program with three commands: buyer runs until SIGTERM, parent
// starts a buyer and runs until it is killed, and serve fails.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asProgram) == "":
		os.Exit(m.Run())
	case os.Args[1] == "buyer":
		runBuyer()
	case os.Args[1] == "parent":
		runParent(os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, strings.Join(os.Args, " "))
		os.Exit(1)
	}
}

func runBuyer() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println("reference buyer on http://127.0.0.1:1")
	<-ctx.Done()
	if file, err := os.OpenFile(os.Getenv(exitOrder), os.O_APPEND|os.O_WRONLY, 0); err == nil {
		fmt.Fprintln(file, os.Args[len(os.Args)-1])
	}
}

// runParent starts a buyer with files in the folder, and prints its process id once it serves.
func runParent(folder string) {
	group := &ProcessList{Dir: folder}
	buyer, err := group.StartThisProgram("orphan", nil, "buyer", "--listen", "orphan")
	if err == nil {
		_, err = buyer.WaitForLine(context.Background(), "reference buyer on")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("buyer", buyer.cmd.Process.Pid)
	<-buyer.done
}

func newGroup(t *testing.T) *ProcessList {
	t.Helper()
	t.Setenv(asProgram, "1")
	group := &ProcessList{Dir: t.TempDir()}
	t.Cleanup(func() { _ = group.StopAll() })
	return group
}

func TestChildStartFailure(t *testing.T) {
	group := newGroup(t)
	c := must.Value(group.StartThisProgram("exchange", nil, "serve", "--config", filepath.Join(group.Dir, "gone.yaml")))(t)
	_, err := c.WaitForLine(t.Context(), "serving")
	if err == nil || !strings.Contains(err.Error(), "exchange did not start") || !strings.Contains(err.Error(), "gone.yaml") {
		t.Errorf("%v", err)
	}
}

func TestWaitForLineCanceled(t *testing.T) {
	group := newGroup(t)
	c := must.Value(group.StartThisProgram("buy_a", nil, "buyer", "--listen", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.WaitForLine(ctx, "never printed"); err == nil {
		t.Error("WaitForLine returned a line that was never printed")
	}
	if err := group.StopAll(); err != nil {
		t.Error(err)
	}
}

// TestStopAllReportsKilledChild: StopAll reports a process that failed before the stop.
func TestStopAllReportsKilledChild(t *testing.T) {
	group := newGroup(t)
	c := must.Value(group.StartThisProgram("buy_a", []string{"PINGPOST_BUYER_TOKEN=secret"}, "buyer", "--listen", "127.0.0.1:0"))(t)
	must.Value(c.WaitForLine(t.Context(), "reference buyer on"))(t)
	must.Succeed(t, c.cmd.Process.Kill())
	<-c.done
	if err := group.StopAll(); err == nil || !strings.Contains(err.Error(), "process buy_a ended with an error: signal: killed") || !strings.Contains(err.Error(), c.Log) {
		t.Error(err)
	}
}

// TestStopAllStopsLastChildFirst: the last started process ends first.
func TestStopAllStopsLastChildFirst(t *testing.T) {
	group := newGroup(t)
	ends := filepath.Join(group.Dir, "ends")
	must.Succeed(t, os.WriteFile(ends, nil, 0o600))
	for _, name := range []string{"first", "second"} {
		c := must.Value(group.StartThisProgram(name, []string{exitOrder + "=" + ends}, "buyer", "--listen", name))(t)
		must.Value(c.WaitForLine(t.Context(), "reference buyer on"))(t)
	}
	must.Succeed(t, group.StopAll())
	if order := must.Value(os.ReadFile(ends))(t); string(order) != "second\nfirst\n" || len(group.processes) != 0 {
		t.Errorf("exit order %q, %d processes left", order, len(group.processes))
	}
	must.Succeed(t, group.StopAll())
}

func TestWaitForLine(t *testing.T) {
	group := &ProcessList{Dir: t.TempDir()}
	c := &Process{name: "it", Log: filepath.Join(group.Dir, "it.log"), cmd: new(exec.Cmd), done: make(chan struct{})}
	must.Succeed(t, os.WriteFile(c.Log, []byte("one\nserving here\nserving th"), 0o600))
	if got, err := c.WaitForLine(t.Context(), "serving"); err != nil || got != "serving here\n" {
		t.Errorf("%q, %v", got, err)
	}
	close(c.done)
	if _, err := c.WaitForLine(t.Context(), "serving th"); err == nil {
		t.Error("WaitForLine returned a line without its end")
	}
}
