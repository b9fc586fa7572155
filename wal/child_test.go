package wal

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"pingpost/internal/must"
)

// child is the other process of a test.
func child(role, dir string) int {
	l, err := Open(dir, Options{SegmentSize: 4 << 10})
	switch {
	case role == "second" && errors.Is(err, ErrLocked):
		fmt.Println(err)
		return 3
	case err != nil:
		fmt.Println(err)
		return 1
	case role == "second":
		return 0
	}
	for i := 1; ; i++ { // until killed
		w := newResult()
		if err := l.Append(fmt.Appendf(nil, "entry-%06d", i), w); err != nil {
			return 1
		}
		if seq, err := w.wait(); err == nil {
			fmt.Println(seq)
		}
	}
}

func childCommand(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	self := must.Value(os.Executable())(t)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "WAL_TEST_CHILD="+role, "WAL_TEST_DIR="+dir)
	return cmd
}

func TestOpenRejectsSecondProcess(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{})
	put(t, l, "mine")
	out, err := childCommand(t, "second", dir).Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("the second process was not refused: %v, %s", err, out)
	}
	put(t, l, "still mine")
	mustClose(t, l)
	if out, err := childCommand(t, "second", dir).Output(); err != nil {
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

func TestKilledProcessLosesNoAcknowledgedEntry(t *testing.T) {
	dir := t.TempDir()
	cmd := childCommand(t, "writer", dir)
	out := must.Value(cmd.StdoutPipe())(t)
	must.Succeed(t, cmd.Start())
	var acked uint64
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		acked, _ = strconv.ParseUint(lines.Text(), 10, 64)
		if acked == 150 {
			cmd.Process.Kill()
		}
	}
	cmd.Wait()
	if acked < 150 {
		t.Fatalf("the writer ended by itself after %d entries", acked)
	}
	// Another process may follow while this one opens.
	followed := make(chan error, 1)
	go func() {
		f, err := Follow(dir, 1, time.Millisecond)
		if err == nil {
			defer f.Close()
			_, err = f.Next(t.Context())
		}
		followed <- err
	}()
	l := mustOpen(t, dir, Options{})
	if err := <-followed; err != nil {
		t.Fatalf("following: %v", err)
	}
	seq, _ := l.Durable()
	if seq < acked {
		t.Fatalf("%d entries are there, %d were acknowledged", seq, acked)
	}
	equal(t, "entries", all(t, dir, 0), numbered(int(seq)))
}
