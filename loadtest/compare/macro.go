package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// macro compares the served exchange: the bench of the working tree measures the
// working tree's program against the base's, in turn.
func (f *flags) macro(ctx context.Context, root, base string, into *samples, say func(string, ...any)) error {
	work := filepath.Dir(base)
	program, measure := filepath.Join(work, "base-pingpost"), filepath.Join(work, "bench")
	if err := build(ctx, base, program, "build", "-trimpath", "./cmd/pingpost"); err != nil {
		return err
	}
	if err := build(ctx, root, measure, "build", "./loadtest/bench"); err != nil {
		return err
	}
	say("the served exchange, %d runs of each side", f.Count)
	head, before := filepath.Join(work, "served-head.txt"), filepath.Join(work, "served-base.txt")
	cmd := exec.CommandContext(ctx, measure, "--against", program, "--runs", fmt.Sprint(f.Count), "--samples", head, "--their-samples", before)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the bench failed: %w", err)
	}
	for side, path := range [2]string{before, head} {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := into.add(side, "served", text); err != nil {
			return err
		}
	}
	return nil
}
