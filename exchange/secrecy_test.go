package exchange

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// spoken keeps every line that any exchange of this package's tests logged, at
// every level.
var spoken lines

// fraction matches the decimals of a number. The nanoseconds of a duration may equal the
// digits of a canary by chance.
var fraction = regexp.MustCompile(`\.[0-9]+`)

var logger = slog.New(slog.NewTextHandler(&spoken, &slog.HandlerOptions{Level: slog.LevelDebug}))

type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestMain looks, when all tests are done, through all that was logged: no
// person and no secret may be in it.
func TestMain(m *testing.M) {
	http.DefaultClient.Transport = holding(http.DefaultTransport)
	code := m.Run()
	if broken := breaches.String(); broken != "" {
		fmt.Print(broken)
		code = 1
	}
	for line := range strings.Lines(spoken.String()) {
		text := fraction.ReplaceAllString(line, ".")
		for _, canary := range canaries {
			if strings.Contains(text, canary) {
				fmt.Printf("a log line carries %q: %s", canary, line)
				code = 1
			}
		}
	}
	os.Exit(code)
}
