package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// tree is a revision's files, in a folder of their own.
type tree struct{ dir string }

// checkOut puts the files of a revision into dir. What an earlier run left there
// is removed first. Git's own record of work trees is not touched: one that a
// killed run left would stand in the next one's way.
func checkOut(ctx context.Context, root, revision, dir string) (*tree, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	archive := exec.CommandContext(ctx, "git", "-C", root, "archive", "--format=tar", "--end-of-options", revision)
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", dir)
	pipe, err := archive.StdoutPipe()
	if err != nil {
		return nil, err
	}
	archive.Stderr, unpack.Stderr, unpack.Stdin = os.Stderr, os.Stderr, pipe
	if err := errors.Join(archive.Start(), unpack.Start()); err != nil {
		return nil, err
	}
	if err := errors.Join(unpack.Wait(), archive.Wait()); err != nil {
		return nil, fmt.Errorf("cannot check out %q: %w", revision, err)
	}
	return &tree{dir: dir}, nil
}

func (t *tree) remove() error { return os.RemoveAll(t.dir) }

// build runs the go command in a tree, with its output at out.
func build(ctx context.Context, dir, out string, args ...string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	all := append([]string{args[0], "-o", out}, args[1:]...)
	cmd := exec.CommandContext(ctx, "go", all...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %v in %s: %w\n%s", args, dir, err, said)
	}
	return nil
}
