package redact

import (
	"io"
	"log"
	"os"
	"testing"
)

// TestHush: nothing is said before Over, and what comes after it goes to where the
// program's errors go.
func TestHush(t *testing.T) {
	if log.Writer() != io.Discard {
		t.Error("the standard log speaks while packages are initialized")
	}
	defer log.SetOutput(log.Writer())
	Restore()
	if log.Writer() != os.Stderr {
		t.Error("the standard log stays silent")
	}
}
