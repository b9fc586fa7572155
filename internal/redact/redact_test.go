package redact

import (
	"io"
	"log"
	"os"
	"testing"
)

// TestHush: log messages are suppressed before Restore, and go to standard error after
// it.
func TestHush(t *testing.T) {
	if log.Writer() != io.Discard {
		t.Error("the standard log speaks while packages are initialized")
	}
	defer log.SetOutput(log.Writer())
	RestoreLogOutput()
	if log.Writer() != os.Stderr {
		t.Error("the standard log stays silent")
	}
}
