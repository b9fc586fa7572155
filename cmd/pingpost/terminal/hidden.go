package terminal

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// ReadLineWithoutEcho prints the prompt and reads a line that the terminal does not show. After
// an interrupt it restores the terminal and ends the program.
func ReadLineWithoutEcho(in *os.File, prompt string) (string, error) {
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("cannot hide the password's input at this terminal: %w", err)
	}
	ended, interrupted := make(chan struct{}), make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupted)
	defer close(ended)
	go func() {
		select {
		case <-interrupted:
			_ = term.Restore(fd, before)
			fmt.Fprintln(os.Stderr)
			os.Exit(130)
		case <-ended:
		}
	}()
	fmt.Fprint(os.Stderr, prompt)
	line, err := term.ReadPassword(fd)
	fmt.Fprintln(os.Stderr)
	if err != nil {
		return "", fmt.Errorf("cannot read the password: %w", err)
	}
	return string(line), nil
}
