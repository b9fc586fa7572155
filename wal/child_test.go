package wal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"pingpost/internal/must"
)

// child is the other process of a test.
func child(dir string) int {
	_, err := Open(dir, Options{})
	switch {
	case errors.Is(err, ErrLocked):
		fmt.Println(err)
		return 3
	case err != nil:
		fmt.Println(err)
		return 1
	}
	return 0
}

func childCommand(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	self := must.Value(os.Executable())(t)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "WAL_TEST_CHILD="+dir)
	return cmd
}

func TestOpenRejectsSecondProcess(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{})
	put(t, l, "mine")
	out, err := childCommand(t, dir).Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("the second process was not refused: %v, %s", err, out)
	}
	put(t, l, "still mine")
	mustClose(t, l)
	if out, err := childCommand(t, dir).Output(); err != nil {
		t.Fatalf("the folder was not given back: %v, %s", err, out)
	}
	equal(t, "entries", all(t, dir, 0), []string{"mine", "still mine"})
}

func TestOpenRejectsSecondOpen(t *testing.T) {
	dir := t.TempDir()
	mustOpen(t, dir, Options{})
	_, err := Open(dir, Options{})
	wantError(t, err, ErrLocked)
	_, err = AcceptLoss(dir, Options{})
	wantError(t, err, ErrLocked)
}
