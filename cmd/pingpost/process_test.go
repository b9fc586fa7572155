package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func home(t *testing.T) *household {
	t.Helper()
	t.Setenv(asProgram, "1")
	h := &household{dir: t.TempDir()}
	t.Cleanup(func() { _ = h.stop() })
	return h
}

func TestChildThatDoesNotStart(t *testing.T) {
	h := home(t)
	c, err := h.start("exchange", nil, "serve", "--config", filepath.Join(h.dir, "gone.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.says(t.Context(), "serving")
	if err == nil || !strings.Contains(err.Error(), "exchange did not start") || !strings.Contains(err.Error(), "gone.yaml") {
		t.Errorf("%v", err)
	}
}

func TestChildIsLeftWaiting(t *testing.T) {
	h := home(t)
	c, err := h.start("buy_a", nil, "buyer", "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.says(ctx, "what it never says"); err == nil {
		t.Error("it said what it never says")
	}
	if err := h.stop(); err != nil {
		t.Error(err)
	}
}

// TestChildThatDies is told once it has.
func TestChildThatDies(t *testing.T) {
	h := home(t)
	c, err := h.start("buy_a", []string{"PINGPOST_BUYER_TOKEN=secret"}, "buyer", "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.says(t.Context(), "reference buyer on"); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-h.died:
		if !strings.Contains(err.Error(), "buy_a ended by itself") || !strings.Contains(err.Error(), c.log) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("nobody was told")
	}
}

// TestChildrenEndInOrder: the youngest first.
func TestChildrenEndInOrder(t *testing.T) {
	h := home(t)
	for _, name := range []string{"first", "second"} {
		c, err := h.start(name, nil, "buyer", "--listen", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.says(t.Context(), "reference buyer on"); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	if err := <-h.died; !strings.Contains(err.Error(), "second ended") {
		t.Errorf("%v, want the second", err)
	}
	if len(h.children) != 0 {
		t.Errorf("%d children are left", len(h.children))
	}
	if err := h.stop(); err != nil {
		t.Error(err)
	}
}

func TestLinesOfAChild(t *testing.T) {
	h := &household{dir: t.TempDir()}
	c := &child{name: "it", log: filepath.Join(h.dir, "it.log"), done: make(chan struct{})}
	if err := os.WriteFile(c.log, []byte("one\nserving here\nserving th"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := c.says(t.Context(), "serving"); err != nil || got != "serving here\n" {
		t.Errorf("%q, %v", got, err)
	}
	close(c.done)
	if _, err := c.says(t.Context(), "serving th"); err == nil {
		t.Error("half a line was taken for one")
	}
}
