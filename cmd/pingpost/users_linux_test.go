package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pingpost/internal/must"
)

// pseudoTerminal is one at which somebody sits, and what it has shown so far.
type pseudoTerminal struct {
	t           *testing.T
	ours, its   *os.File
	mu          sync.Mutex // guards shown
	shown       strings.Builder
	endOfScreen chan struct{}
}

func newTerminal(t *testing.T) *pseudoTerminal {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine has no terminals to give: %v", err)
	}
	must.Succeed(t, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	number := must.Value(unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN))(t)
	its, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine shows no terminals: %v", err)
	}
	s := &pseudoTerminal{t: t, ours: ours, its: its, endOfScreen: make(chan struct{})}
	go func() {
		defer close(s.endOfScreen)
		for buffer := make([]byte, 4096); ; {
			n, err := ours.Read(buffer)
			s.mu.Lock()
			s.shown.Write(buffer[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		its.Close()
		ours.Close()
	})
	return s
}

func (s *pseudoTerminal) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// types waits for a prompt, and for the terminal to show nothing of what is typed.
func (s *pseudoTerminal) types(prompt, text string) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.screen(), prompt) || s.echoes(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%q was never asked in secret: %q", prompt, s.screen())
		}
	}
	must.Value(s.ours.WriteString(text))(s.t)
}

func (s *pseudoTerminal) echoes() bool {
	mode := must.Value(unix.IoctlGetTermios(int(s.its.Fd()), unix.TCGETS))(s.t)
	return mode.Lflag&unix.ECHO != 0
}

// run has a command run there; meanwhile somebody types.
func (s *pseudoTerminal) run(meanwhile func(), args ...string) (code int) {
	s.t.Helper()
	cmd := program(s.t, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.its, s.its, s.its
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.Succeed(s.t, cmd.Start())
	meanwhile()
	_ = cmd.Wait()
	if !s.echoes() {
		s.t.Error("the terminal is left silent")
	}
	return cmd.ProcessState.ExitCode()
}

// TestUsersAtATerminal: a password is asked for twice and shown never; who makes a
// mistake, or interrupts, has changed nothing, and has the terminal back.
func TestUsersAtATerminal(t *testing.T) {
	s := serve(t, "-c", configuration(t, served))
	_, admin := s.addresses("production")
	add := []string{"users", "add", "anna", "--role", "viewer", "--admin", admin}

	at := newTerminal(t)
	code := at.run(func() {
		at.types("Password for anna: ", "first-of-a-canary\n")
		at.types("Once more: ", "other-of-a-canary\n")
	}, add...)
	if code == 0 || mustRun(t, "users", "--admin", admin) != "" {
		t.Errorf("two that differ were taken: exit %d, %q", code, at.screen())
	}

	at = newTerminal(t)
	if code := at.run(func() { at.types("Password for anna: ", "first-of\x03") }, add...); code != 130 || mustRun(t, "users", "--admin", admin) != "" {
		t.Errorf("interrupted: exit %d, %q", code, at.screen())
	}

	at = newTerminal(t)
	code = at.run(func() {
		at.types("Password for anna: ", "first-of-a-canary\n")
		at.types("Once more: ", "first-of-a-canary\n")
	}, add...)
	at.its.Close()
	<-at.endOfScreen
	if screen := at.screen(); code != 0 || strings.Contains(screen, "canary") || !strings.Contains(screen, "made  anna  viewer") {
		t.Errorf("exit %d, %q", code, screen)
	}
	if got := logsIn(t, admin, "anna", "first-of-a-canary"); got != 200 {
		t.Errorf("anna cannot log in: %d", got)
	}
}

// TestAccountAtATerminal: the password of --user is asked for once, and not shown.
func TestAccountAtATerminal(t *testing.T) {
	s := serve(t, "-c", configuration(t, served))
	_, admin := s.addresses("production")
	if r := typed(t, "account-of-a-canary\n", "users", "add", "anna", "--role", "admin", "--admin", admin); r.code != 0 {
		t.Fatal(r.err)
	}
	at := newTerminal(t)
	code := at.run(func() { at.types("Password of anna at "+admin+": ", "account-of-a-canary\n") },
		"users", "list", "--user", "anna", "--password", "", "--admin", admin)
	at.its.Close()
	<-at.endOfScreen
	if screen := at.screen(); code != 0 || strings.Contains(screen, "canary") || strings.Count(screen, "Password of") != 1 || !strings.Contains(screen, "anna  admin") {
		t.Errorf("exit %d, %q", code, screen)
	}
}
