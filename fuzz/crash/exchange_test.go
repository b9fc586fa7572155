//go:build unix

package crash

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// exchange is the program under test over all its lives: one folder, one
// configuration, one process after another.
type exchange struct {
	t       *testing.T
	program string
	dir     string
	door    *door // where suppliers find it
	life    *child
	lives   int
	startup time.Duration // how long the last start took that came to its end

	mu     sync.Mutex
	admin  string // address of this life
	faults []string
}

func (x *exchange) config() string { return filepath.Join(x.dir, "exchange.json") }
func (x *exchange) data() string   { return filepath.Join(x.dir, "data") }

func (x *exchange) configure(document []byte) {
	x.t.Helper()
	next := x.config() + ".next"
	if err := os.WriteFile(next, document, 0o600); err != nil {
		x.t.Fatal(err)
	}
	if err := os.Rename(next, x.config()); err != nil {
		x.t.Fatal(err)
	}
}

// begin starts a process, which replays its log first.
func (x *exchange) begin() {
	x.t.Helper()
	x.lives++
	life := x.lives
	x.life = spawn(x.t, fmt.Sprintf("exchange, life %d", life), func(line string) { x.hear(line) },
		x.program, "serve", "--config", x.config(), "--log-format", "json")
}

// start starts a process and waits until it serves.
func (x *exchange) start() {
	x.t.Helper()
	began := time.Now()
	x.begin()
	await(x.t, "the exchange serves", func() bool {
		if end := x.life.ended(); end != "" {
			x.t.Fatal(end)
		}
		return x.door.isOpen()
	})
	x.startup = time.Since(began)
}

// hear reads the exchange's own log lines: where it listens, what it could not do.
func (x *exchange) hear(text string) {
	var said struct {
		Level  string `json:"level"`
		Msg    string `json:"msg"`
		Listen string `json:"listen"`
		Admin  string `json:"admin"`
	}
	if json.Unmarshal([]byte(text), &said) != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if said.Level == "ERROR" {
		x.faults = append(x.faults, text)
	}
	if said.Msg == "serving" {
		x.admin = "http://" + said.Admin
		x.door.open("http://" + said.Listen)
	}
}

// kill is the end of a life without a warning.
func (x *exchange) kill() {
	x.life.kill()
	x.door.shut()
}

// stop is the end of a life in order.
func (x *exchange) stop() {
	x.t.Helper()
	x.life.signal(syscall.SIGTERM)
	await(x.t, "the exchange stops", func() bool {
		select {
		case <-x.life.gone:
			return true
		default:
			return false
		}
	})
	x.door.shut()
	if x.life.err != nil {
		x.t.Errorf("an orderly stop ended with %v\n%s", x.life.err, x.life.lines())
	}
}

// operate asks the admin address.
func (x *exchange) operate(method, path, body string) (status int, text []byte, err error) {
	x.mu.Lock()
	address := x.admin
	x.mu.Unlock()
	req, err := http.NewRequest(method, address+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.SetBasicAuth("operator", adminPassword)
	response, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

// ask gets JSON, or with a nil answer text, from an exchange that must be up.
func (x *exchange) ask(path string, into any) string {
	x.t.Helper()
	status, text, err := x.operate("GET", path, "")
	if err != nil || status != http.StatusOK {
		x.t.Fatalf("GET %s: %d %s %v %s", path, status, text, err, x.life.ended())
	}
	if into == nil {
		return string(text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		x.t.Fatalf("GET %s: %v: %s", path, err, text)
	}
	return ""
}

// position is a place in the log with the state's hash there.
type position struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

func (x *exchange) hash() (p position) {
	x.t.Helper()
	x.ask("/admin/v1/hash", &p)
	return p
}

// metric reads one figure that stands without labels.
func (x *exchange) metric(name string) string {
	x.t.Helper()
	for text := range strings.Lines(x.ask("/metrics", nil)) {
		if rest, ok := strings.CutPrefix(text, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	x.t.Fatalf("there is no metric %s", name)
	return ""
}

func (x *exchange) errors() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]string(nil), x.faults...)
}
