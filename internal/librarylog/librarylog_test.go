package librarylog

import (
	"io"
	"log"
	"os"
	"testing"
)

func TestLogOutputIsDiscardedUntilRestored(t *testing.T) {
	if log.Writer() != io.Discard {
		t.Error("the standard log has an output while packages are initialized")
	}
	defer log.SetOutput(log.Writer())
	RestoreLogOutput()
	if log.Writer() != os.Stderr {
		t.Error("the standard log does not write to standard error")
	}
}
