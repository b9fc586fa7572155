// Package terminal formats the output of commands: tables, figures, wrapped text and
// progress lines.
package terminal

import (
	"fmt"
)

// ExitCode is an error that ends the program with this exit code, without a message. The
// command has already printed its messages.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }
