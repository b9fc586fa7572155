package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"
)

// passwordGenerationFlag is the flag that decides where a new password comes from. No flag takes the
// password itself, because other users of the machine can read command lines.
type passwordGenerationFlag struct {
	Generate bool `help:"Generate a password, and print it once."`
}

// maxInputLine limits a password's line of input. It is above the exchange's limit.
const maxInputLine = 4096

// obtainNewPassword returns the new password for an account, generated or read from in. It
// rejects a password that is not UTF-8. The exchange would replace its invalid bytes, and the
// password would never match.
func (n *passwordGenerationFlag) obtainNewPassword(in *os.File, accountName string) (string, error) {
	password, err := n.generateOrReadPassword(in, accountName)
	if err == nil && !utf8.ValidString(password) {
		return "", errors.New("the password is not UTF-8; nothing was changed")
	}
	return password, err
}

// generateOrReadPassword generates a password, asks for it twice at a terminal, or reads the first line
// of an input that is not a terminal.
func (n *passwordGenerationFlag) generateOrReadPassword(in *os.File, accountName string) (string, error) {
	if n.Generate {
		return rand.Text(), nil
	}
	if !term.IsTerminal(int(in.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(in, maxInputLine)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("cannot read the password: %w", err)
		}
		if line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"); line == "" {
			return "", errors.New("standard input has no password; write the password to it as one line, or give --generate")
		}
		return line, nil
	}
	first, err := readLineWithoutEcho(in, "Password for "+accountName+": ")
	if err != nil {
		return "", err
	}
	second, err := readLineWithoutEcho(in, "Once more: ")
	switch {
	case err != nil:
		return "", err
	case first != second:
		return "", errors.New("the two passwords differ; nothing was changed")
	}
	return first, nil
}

// readLineWithoutEcho prints the prompt and reads a line that the terminal does not show. After
// an interrupt it restores the terminal and ends the program.
func readLineWithoutEcho(in *os.File, prompt string) (string, error) {
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

// printIfGenerated prints the password if --generate made it, because it cannot be shown
// again.
func (n *passwordGenerationFlag) printIfGenerated(out io.Writer, password string) error {
	if !n.Generate {
		return nil
	}
	_, err := fmt.Fprintf(out, "password  %s\n", password)
	return err
}
