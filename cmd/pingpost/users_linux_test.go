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

// pseudoTerminal is a terminal for a command, and its output so far.
type pseudoTerminal struct {
	t               *testing.T
	controller, tty *os.File
	mu              sync.Mutex // guards output
	output          strings.Builder
	outputClosed    chan struct{}
}

func newPseudoTerminal(t *testing.T) *pseudoTerminal {
	t.Helper()
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("cannot open a pseudo terminal: %v", err)
	}
	must.Succeed(t, unix.IoctlSetPointerInt(int(controller.Fd()), unix.TIOCSPTLCK, 0))
	number := must.Value(unix.IoctlGetInt(int(controller.Fd()), unix.TIOCGPTN))(t)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("cannot open the terminal's other side: %v", err)
	}
	s := &pseudoTerminal{t: t, controller: controller, tty: tty, outputClosed: make(chan struct{})}
	go func() {
		defer close(s.outputClosed)
		for buffer := make([]byte, 4096); ; {
			n, err := controller.Read(buffer)
			s.mu.Lock()
			s.output.Write(buffer[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		tty.Close()
		controller.Close()
	})
	return s
}

func (s *pseudoTerminal) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.String()
}

// typeAtPrompt waits for a prompt without echo and types the text.
func (s *pseudoTerminal) typeAtPrompt(prompt, text string) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.screen(), prompt) || s.hasEcho(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("no prompt %q without echo: %q", prompt, s.screen())
		}
	}
	must.Value(s.controller.WriteString(text))(s.t)
}

func (s *pseudoTerminal) hasEcho() bool {
	mode := must.Value(unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS))(s.t)
	return mode.Lflag&unix.ECHO != 0
}

// run runs a command at the terminal while interact types.
func (s *pseudoTerminal) run(interact func(), args ...string) (code int) {
	s.t.Helper()
	cmd := programCommand(s.t, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.tty, s.tty, s.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.Succeed(s.t, cmd.Start())
	interact()
	_ = cmd.Wait()
	if !s.hasEcho() {
		s.t.Error("the terminal has no echo after the command")
	}
	return cmd.ProcessState.ExitCode()
}

// TestUsersAddAtTerminal: the command asks for a password twice without echo. A mismatch or
// an interrupt changes no account and restores the terminal.
func TestUsersAddAtTerminal(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, testConfig))
	_, admin := s.addresses("production")
	add := []string{"users", "add", "anna", "--role", "viewer", "--admin", admin}

	terminal := newPseudoTerminal(t)
	code := terminal.run(func() {
		terminal.typeAtPrompt("Password for anna: ", "first-of-a-canary\n")
		terminal.typeAtPrompt("Once more: ", "other-of-a-canary\n")
	}, add...)
	if code == 0 || mustRun(t, "users", "--admin", admin) != "" {
		t.Errorf("two different passwords were accepted: exit %d, %q", code, terminal.screen())
	}

	terminal = newPseudoTerminal(t)
	if code := terminal.run(func() { terminal.typeAtPrompt("Password for anna: ", "first-of\x03") }, add...); code != 130 || mustRun(t, "users", "--admin", admin) != "" {
		t.Errorf("interrupted: exit %d, %q", code, terminal.screen())
	}

	terminal = newPseudoTerminal(t)
	code = terminal.run(func() {
		terminal.typeAtPrompt("Password for anna: ", "first-of-a-canary\n")
		terminal.typeAtPrompt("Once more: ", "first-of-a-canary\n")
	}, add...)
	terminal.tty.Close()
	<-terminal.outputClosed
	if screen := terminal.screen(); code != 0 || strings.Contains(screen, "canary") || !strings.Contains(screen, "made  anna  viewer") {
		t.Errorf("exit %d, %q", code, screen)
	}
	if got := loginStatus(t, admin, "anna", "first-of-a-canary"); got != 200 {
		t.Errorf("anna cannot log in: %d", got)
	}
}

// TestUserPasswordPromptAtTerminal: --user asks for the password once, without echo.
func TestUserPasswordPromptAtTerminal(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, testConfig))
	_, admin := s.addresses("production")
	if r := runWithInput(t, "account-of-a-canary\n", "users", "add", "anna", "--role", "admin", "--admin", admin); r.code != 0 {
		t.Fatal(r.err)
	}
	terminal := newPseudoTerminal(t)
	code := terminal.run(func() { terminal.typeAtPrompt("Password of anna at "+admin+": ", "account-of-a-canary\n") },
		"users", "list", "--user", "anna", "--password", "", "--admin", admin)
	terminal.tty.Close()
	<-terminal.outputClosed
	if screen := terminal.screen(); code != 0 || strings.Contains(screen, "canary") || strings.Count(screen, "Password of") != 1 || !strings.Contains(screen, "anna  admin") {
		t.Errorf("exit %d, %q", code, screen)
	}
}
