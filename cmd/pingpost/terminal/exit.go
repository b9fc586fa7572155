// Package terminal formats the output of commands: tables, figures, wrapped text and
// progress lines.
package terminal

import (
	"fmt"
)

// ExitCode ends the program with a code after the command has printed its messages.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }
