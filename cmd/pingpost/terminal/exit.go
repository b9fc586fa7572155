// Package terminal formats the output of commands: tables, figures, wrapped text and
// progress lines.
package terminal

import (
	"fmt"
)

// ExitCodeError is an error that ends the program with this exit code, without a message. The
// command has already printed its messages.
type ExitCodeError int

func (e ExitCodeError) Error() string { return fmt.Sprintf("exit %d", int(e)) }
