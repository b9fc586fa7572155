// Package librarylog suppresses the log messages of libraries during their initialization, because
// they would appear above a command's output. One library logs at every start that the system
// does not measure pressure. The program itself loses no messages: it logs only after RestoreLogOutput.
//
// This package must be initialized before those libraries, and after capnslog, which raft-wal needs: it
// takes over the standard log, and would write their messages to standard error. Go initializes packages whose
// imports are ready in the order of their paths. This package imports only the standard log and capnslog.
// So it is ready before net/http, which all those libraries import. A test of the program
// checks the effect.
package librarylog

import (
	"io"
	"log"
	"os"

	_ "github.com/coreos/pkg/capnslog" // changes the output and the format of the standard log
)

func init() { log.SetOutput(io.Discard) }

// RestoreLogOutput sends messages of the standard log package to standard error again, in its usual
// format. The program calls it once its libraries are initialized.
func RestoreLogOutput() {
	log.SetFlags(log.LstdFlags)
	log.SetOutput(os.Stderr)
}
