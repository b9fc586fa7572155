package exchange

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// allLogged has the log lines of all exchanges in these tests, at every level.
var allLogged logBuffer

// decimalsAndIDs matches the decimals of a number, the random part of an id, and the free bytes of
// the disk. All may contain a canary by chance.
var decimalsAndIDs = regexp.MustCompile(`\.[0-9]+|_01[0-9a-z]{24}|"disk_free_bytes":[0-9]+`)

// logger returns a logger for an exchange on the folder.
func (p testDir) logger() *slog.Logger { return newLogger(p.logged) }

// newLogger returns a logger that writes all levels to the buffer and to allLogged.
func newLogger(buffer *logBuffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(io.MultiWriter(buffer, &allLogged), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestMain checks after all tests that no log line has contact data or a secret.
func TestMain(m *testing.M) {
	http.DefaultClient.Transport = checkingTransport(http.DefaultTransport)
	code := m.Run()
	if problems := contractErrors.String(); problems != "" {
		fmt.Print(problems)
		code = 1
	}
	for line := range strings.Lines(allLogged.String()) {
		if found := findCanaries(line); len(found) > 0 {
			fmt.Printf("log line contains %q: %s", found, line)
			code = 1
		}
	}
	os.Exit(code)
}

// findCanaries returns the canaries in the text. It runs the slow regular expression only on a text
// with a match, because all log lines of the tests are megabytes.
func findCanaries(text string) []string {
	if containedCanaries(text) == nil {
		return nil
	}
	return containedCanaries(decimalsAndIDs.ReplaceAllString(text, "."))
}

func containedCanaries(text string) (found []string) {
	for _, canary := range canaries {
		if strings.Contains(text, canary) {
			found = append(found, canary)
		}
	}
	return found
}
