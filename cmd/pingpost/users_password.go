package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"pingpost/cmd/pingpost/terminal"
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
	first, err := terminal.ReadLineWithoutEcho(in, "Password for "+accountName+": ")
	if err != nil {
		return "", err
	}
	second, err := terminal.ReadLineWithoutEcho(in, "Once more: ")
	switch {
	case err != nil:
		return "", err
	case first != second:
		return "", errors.New("the two passwords differ; nothing was changed")
	}
	return first, nil
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
