//go:build unix

package witness

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
	"time"
)

// exchange is the program under test over all its lives: one folder, one
// configuration, one process after another.
type Exchange struct {
	t       Clerk
	program string
	dir     string
	door    *Door // where suppliers find it
	life    *child
	lives   int
	startup time.Duration // how long the last start took that came to its end
	flags   []string      // of serve, beside its configuration

	mu     sync.Mutex
	admin  string // address of this life
	faults []string
}

// NewExchange is the program in a folder of its own, before its first life.
func NewExchange(t Clerk, program, dir string) *Exchange {
	return &Exchange{t: t, program: program, dir: dir, door: NewDoor()}
}

// Address is where suppliers find it; empty while it does not serve.
func (x *Exchange) Address() string { return x.door.at() }

func (x *Exchange) config() string { return filepath.Join(x.dir, "exchange.json") }

// Data is its data_dir.
func (x *Exchange) Data() string { return filepath.Join(x.dir, "data") }

// Startup is how long the last start took that came to its end.
func (x *Exchange) Startup() time.Duration { return x.startup }

// Lives is how often it was started.
func (x *Exchange) Lives() int { return x.lives }

// Lost is how long it was not there, from the end of a life to the next one's first
// answer, in all.
func (x *Exchange) Lost() time.Duration { return x.door.lost() }

// Ended says how its present life has ended; "" while it runs.
func (x *Exchange) Ended() string { return x.life.ended() }

// Lines are the last words of its present life.
func (x *Exchange) Lines() string { return x.life.lines() }

// Pid is the process of its present life.
func (x *Exchange) Pid() int { return x.life.cmd.Process.Pid }

// Signal reports whether the process was still there to be told.
func (x *Exchange) Signal(s syscall.Signal) bool { return x.life.signal(s) }

// Configure writes the configuration's file.
func (x *Exchange) Configure(document []byte) {
	x.t.Helper()
	next := x.config() + ".next"
	if err := os.WriteFile(next, document, 0o600); err != nil {
		x.t.Fatal(err)
	}
	if err := os.Rename(next, x.config()); err != nil {
		x.t.Fatal(err)
	}
}

// Begin starts a process, which replays its log first.
func (x *Exchange) Begin() {
	x.t.Helper()
	x.lives++
	life := x.lives
	x.life = spawn(x.t, fmt.Sprintf("exchange, life %d", life), func(line string) { x.hear(line) },
		x.program, append([]string{"serve", "--config", x.config(), "--log-format", "json"}, x.flags...)...)
}

// Start starts a process and waits until it serves.
func (x *Exchange) Start() {
	x.t.Helper()
	began := time.Now()
	x.Begin()
	Await(x.t, "the exchange serves", func() bool {
		if end := x.life.ended(); end != "" {
			x.t.Fatal(end)
		}
		return x.door.isOpen()
	})
	x.startup = time.Since(began)
}

// hear reads the exchange's own log lines: where it listens, what it could not do.
func (x *Exchange) hear(text string) {
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
		x.door.Open("http://" + said.Listen)
	}
}

// Kill is the end of a life without a warning. Killed is false where the exchange
// was faster, and had ended by itself, which may be no failure.
func (x *Exchange) Kill() (killed bool) {
	x.t.Helper()
	alive := x.Ended() == ""
	x.life.kill()
	x.door.Shut()
	if status, ok := x.life.cmd.ProcessState.Sys().(syscall.WaitStatus); alive && ok && status.Signaled() {
		return true
	}
	if x.life.err != nil {
		x.t.Error(x.Ended())
	}
	return false
}

// toGiveUp is how long an exchange has that cannot go on.
const toGiveUp = 30 * time.Second

// Fails waits until the exchange has ended by itself, as one has to that cannot
// keep its promises any more, and returns its exit code: negative for a signal.
// What it said of it is no finding.
func (x *Exchange) Fails() (code int) {
	x.t.Helper()
	awaitFor(x.t, "the exchange gives up", toGiveUp, func() bool { return x.Ended() != "" })
	x.door.Shut()
	x.Forgive()
	return x.life.cmd.ProcessState.ExitCode()
}

// Refuses starts the exchange on what it must not serve from, and returns its exit code
// and what it said.
func (x *Exchange) Refuses() (code int, said string) {
	x.t.Helper()
	x.Begin()
	Await(x.t, "the exchange refuses to start", func() bool { return x.Ended() != "" || x.door.isOpen() })
	if x.door.isOpen() {
		x.t.Error("it serves from a log that it must not serve from")
		x.Kill()
	}
	x.Forgive()
	return x.life.cmd.ProcessState.ExitCode(), x.Lines()
}

// Forgive forgets the errors that it has told so far.
func (x *Exchange) Forgive() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.faults = nil
}

// Stop is the end of a life in order.
func (x *Exchange) Stop() {
	x.t.Helper()
	x.life.signal(syscall.SIGTERM)
	Await(x.t, "the exchange stops", func() bool {
		select {
		case <-x.life.gone:
			return true
		default:
			return false
		}
	})
	x.door.Shut()
	if x.life.err != nil {
		x.t.Errorf("an orderly stop ended with %v\n%s", x.life.err, x.life.lines())
	}
}

// Operate asks the admin address.
func (x *Exchange) Operate(method, path, body string) (status int, text []byte, err error) {
	x.mu.Lock()
	address := x.admin
	x.mu.Unlock()
	req, err := http.NewRequest(method, address+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.SetBasicAuth("operator", AdminPassword)
	response, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

// Ask gets JSON, or with a nil answer text, from an exchange that must be up.
func (x *Exchange) Ask(path string, into any) string {
	x.t.Helper()
	status, text, err := x.Operate("GET", path, "")
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

// Position is a place in the log with the state's hash there.
type Position struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// Hash is where the log is now, and the state there.
func (x *Exchange) Hash() (p Position) {
	x.t.Helper()
	x.Ask("/admin/v1/hash", &p)
	return p
}

// Metric reads one figure that stands without labels.
func (x *Exchange) Metric(name string) string {
	x.t.Helper()
	for text := range strings.Lines(x.Ask("/metrics", nil)) {
		if rest, ok := strings.CutPrefix(text, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	x.t.Fatalf("there is no metric %s", name)
	return ""
}

// Faults are the errors that it has told in its log.
func (x *Exchange) Faults() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]string(nil), x.faults...)
}
