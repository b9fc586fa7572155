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

	"pingpost/internal/must"
)

// shell is a bash that runs blocks one after another. It keeps variables and processes for the
// next block. The first failed command ends it.
type shell struct {
	dir    string // working directory
	logDir string // directory with the commands and their output
	number int
	in     io.Writer
	done   chan string   // a block's number, when it has ended
	ended  chan struct{} // the shell itself
	err    error         // error of its end; valid after ended is closed
	group  int
}

func newShell(t testing.TB, dir string, env []string) *shell {
	t.Helper()
	s := &shell{dir: dir, logDir: t.TempDir(), done: make(chan string), ended: make(chan struct{})}
	read, write, err := os.Pipe()
	must.Succeed(t, err)
	cmd := exec.Command("bash", "--norc", "--noprofile", "-euo", "pipefail", "-s")
	cmd.Dir, cmd.Env, cmd.ExtraFiles = dir, env, []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in := must.Value(cmd.StdinPipe())(t)
	err = cmd.Start()
	write.Close()
	if err != nil {
		t.Fatalf("cannot start bash: %v", err)
	}
	s.in, s.group = in, cmd.Process.Pid
	go func() {
		for lines := bufio.NewScanner(read); lines.Scan(); {
			s.done <- lines.Text()
		}
	}()
	go func() {
		if s.err = cmd.Wait(); s.err == nil {
			s.err = errors.New("it exited with status 0")
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

// run runs a block's commands and returns their output.
func (s *shell) run(text string, timeout time.Duration) (output string, err error) {
	s.number++
	name := filepath.Join(s.logDir, fmt.Sprint(s.number))
	if err := os.WriteFile(name+".sh", []byte(text), 0o600); err != nil {
		return "", err
	}
	// Only the shell has descriptor 3; processes of a block do not.
	if _, err = fmt.Fprintf(s.in, "source '%s.sh' </dev/null >'%[1]s.out' 2>&1 3>&-; echo %d >&3\n", name, s.number); err == nil {
		select {
		case <-s.done:
		case <-s.ended:
			err = fmt.Errorf("a command failed, and with it the shell: %w", s.err)
		case <-time.After(timeout):
			err = fmt.Errorf("the block did not end in %v", timeout)
			_ = syscall.Kill(-s.group, syscall.SIGKILL)
		}
	}
	out, readErr := os.ReadFile(name + ".out")
	return string(out), errors.Join(err, readErr)
}

// environment returns the shell's environment.
func (s *shell) environment() (all []string, err error) {
	output, err := s.run("env -0\n", time.Minute)
	return strings.Split(strings.TrimRight(output, "\x00"), "\x00"), err
}

// end ends the shell and its processes.
func (s *shell) end(t testing.TB) {
	_, _ = io.WriteString(s.in, "set +e; kill $(jobs -p); wait; exit\n")
	select {
	case <-s.ended:
	case <-time.After(20 * time.Second):
		t.Errorf("the processes started in %s do not end after SIGTERM", s.dir)
	}
	_ = syscall.Kill(-s.group, syscall.SIGKILL)
	for range 250 {
		if errors.Is(syscall.Kill(-s.group, 0), syscall.ESRCH) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// logs returns the last parts of the log files.
func (s *shell) logs() (all string) {
	names, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		all += fmt.Sprintf("\n%s ends with\n%s", filepath.Base(name), text[max(0, len(text)-4000):])
	}
	return all
}
