package strace

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// recordShell runs a shell script and returns its calls.
func recordShell(t *testing.T, words string, args ...string) []*Call {
	t.Helper()
	if err := CheckAvailable(); err != nil {
		t.Skip(err)
	}
	out := filepath.Join(t.TempDir(), "record")
	if said, err := Command(t.Context(), out, "sh", append([]string{"-c", words, "sh"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return readRecord(t, out)
}

func readRecord(t *testing.T, out string) []*Call {
	t.Helper()
	file := must.Value(os.Open(out))(t)
	defer file.Close()
	calls, _, err := ReadRecord(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// All bytes must be recorded, even if they look like syntax.
func TestRecordsAllBytes(t *testing.T) {
	path, want := filepath.Join(t.TempDir(), "a, (file) = 3"), strings.Repeat("all bytes: \"\\x41\", ) = 5 <unfinished ...>; ", 2000)
	var got strings.Builder
	for _, c := range recordShell(t, `printf %s "$2" > "$1"`, path, want) {
		if c.Name != "write" {
			continue
		}
		fd, at, err := c.Descriptor(0)
		text, bad := c.StringArg(1)
		if err != nil || bad != nil {
			t.Fatal(fd, err, bad)
		}
		if at == path {
			got.Write(text[:c.Result])
		}
	}
	if got.String() != want {
		t.Errorf("%d bytes were recorded, and %d written", got.Len(), len(want))
	}
}

// TracedProcess finds the program even while strace has test children.
func TestTracedProcess(t *testing.T) {
	if err := CheckAvailable(); err != nil {
		t.Skip(err)
	}
	for range 5 {
		command := Command(t.Context(), filepath.Join(t.TempDir(), "record"), "sleep", "1000")
		must.Succeed(t, command.Start())
		traced := must.Value(TracedProcess(command))(t)
		name, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(traced.Pid), "exe"))
		if err := errors.Join(err, traced.Kill()); err != nil || strings.Contains(name, "strace") {
			t.Errorf("%s is taken for the program, %v", name, err)
		}
		if err := command.Wait(); err == nil {
			t.Error("what was killed ended well")
		}
		if traced, err := TracedProcess(command); err == nil {
			t.Errorf("process %d is traced by nobody", traced.Pid)
		}
	}
}
