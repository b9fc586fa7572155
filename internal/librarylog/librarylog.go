// Package librarylog suppresses the log messages of libraries during their initialization, because
// they would appear above a command's output. One library logs at every start that the system
// does not measure pressure. The program itself loses no messages: it logs only after RestoreLogOutput.
//
// This package must be initialized before those libraries. Go initializes packages whose
// imports are ready in the order of their paths, and this one imports only the standard log.
// So it is ready before net/http, which all those libraries import. A test of the program
// checks the effect.
package librarylog

import (
	"io"
	"log"
	"os"
)

func init() { log.SetOutput(io.Discard) }

// RestoreLogOutput sends messages of the standard log package to standard error again. The
// program calls it once its libraries are initialized.
func RestoreLogOutput() { log.SetOutput(os.Stderr) }
