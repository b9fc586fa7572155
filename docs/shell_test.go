//go:build unix

package docs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell is a bash that a reader types into: what one block exports or starts is there
// for the next. The first command that fails ends it.
type shell struct {
	dir    string // where the reader works
	notes  string // what is typed, and what comes back
	number int
	in     io.Writer
	done   chan string   // a block's number, when it has ended
	ended  chan struct{} // the shell itself
	why    error         // then
	group  int
}

func newShell(t testing.TB, dir string, env []string) *shell {
	t.Helper()
	s := &shell{dir: dir, notes: t.TempDir(), done: make(chan string), ended: make(chan struct{})}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "--norc", "--noprofile", "-euo", "pipefail", "-s")
	cmd.Dir, cmd.Env, cmd.ExtraFiles = dir, env, []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Start()
	write.Close()
	if err != nil {
		t.Fatalf("the pages are played by bash: %v", err)
	}
	s.in, s.group = in, cmd.Process.Pid
	go func() {
		for lines := bufio.NewScanner(read); lines.Scan(); {
			s.done <- lines.Text()
		}
	}()
	go func() {
		if s.why = cmd.Wait(); s.why == nil {
			s.why = errors.New("it was left")
		}
		close(s.ended)
	}()
	t.Cleanup(func() {
		s.end(t)
		in.Close()
		read.Close()
	})
	return s
}

// run has a block's commands run, and gives what they print.
func (s *shell) run(text string, within time.Duration) (said string, err error) {
	s.number++
	name := filepath.Join(s.notes, fmt.Sprint(s.number))
	if err := os.WriteFile(name+".sh", []byte(text), 0o600); err != nil {
		return "", err
	}
	// 3 is for the shell alone: what a block leaves running does not have it.
	if _, err = fmt.Fprintf(s.in, "source '%s.sh' </dev/null >'%[1]s.out' 2>&1 3>&-; echo %d >&3\n", name, s.number); err == nil {
		select {
		case <-s.done:
		case <-s.ended:
			err = fmt.Errorf("a command failed, and with it the shell: %w", s.why)
		case <-time.After(within):
			err = fmt.Errorf("there was no end of it in %v", within)
			_ = syscall.Kill(-s.group, syscall.SIGKILL)
		}
	}
	out, unread := os.ReadFile(name + ".out")
	return string(out), errors.Join(err, unread)
}

// environment is that of the shell.
func (s *shell) environment() (all []string, err error) {
	said, err := s.run("env -0\n", time.Minute)
	return strings.Split(strings.TrimRight(said, "\x00"), "\x00"), err
}

// end ends the shell and what was started in it.
func (s *shell) end(t testing.TB) {
	_, _ = io.WriteString(s.in, "set +e; kill $(jobs -p); wait; exit\n")
	select {
	case <-s.ended:
	case <-time.After(20 * time.Second):
		t.Errorf("what was started in %s does not end by SIGTERM", s.dir)
	}
	_ = syscall.Kill(-s.group, syscall.SIGKILL)
	for range 250 {
		if errors.Is(syscall.Kill(-s.group, 0), syscall.ESRCH) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// logs are the ends of what the programs of a page have logged.
func (s *shell) logs() (all string) {
	names, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		all += fmt.Sprintf("\n%s ends with\n%s", filepath.Base(name), text[max(0, len(text)-4000):])
	}
	return all
}
