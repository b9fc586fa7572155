//go:build unix

package witness

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Exchange is the tested program over all its restarts: one directory, one configuration, and
// one process after another.
type Exchange struct {
	t             testing.TB
	name          string // of its processes in messages
	Program       string // path of the binary that the next process runs
	dir           string
	locator       *Locator // publishes the public address to the clients
	process       *Process
	Starts        int            // number of starts
	Startup       time.Duration  // duration of the last completed start
	output        *os.File       // copy of the output of all its processes; nil: none
	expectedError *regexp.Regexp // matches error lines that are no finding; nil: all are
	readPatience  time.Duration  // AdminGet repeats failed reads for so long
	flags         []string       // additional flags of serve
	// Through is a command with arguments that runs the program, for example in a network namespace. It must
	// replace itself by the program.
	Through []string

	mayEnd bool // the test ends the current process

	mu         sync.Mutex
	adminURL   string // URL of the admin API of the current process
	errorLines []string
}

// NewExchange returns an exchange in the directory, before its first start.
func NewExchange(t testing.TB, program, dir string) *Exchange {
	return &Exchange{t: t, name: "exchange", Program: program, dir: dir, locator: NewLocator()}
}

// Address returns the public URL, or "" while the exchange does not serve.
func (x *Exchange) Address() string { return x.locator.current() }

func (x *Exchange) configPath() string { return filepath.Join(x.dir, "exchange.json") }

// DataDir returns the data directory.
func (x *Exchange) DataDir() string { return filepath.Join(x.dir, "data") }

// ExitReport returns how the current process ended, or "" while it runs.
func (x *Exchange) ExitReport() string { return x.process.exitReport() }

// LastLines returns the last output lines of the current process.
func (x *Exchange) LastLines() string { return x.process.LastLines() }

// Pid returns the current process id.
func (x *Exchange) Pid() int { return x.process.cmd.Process.Pid }

// Signal sends a signal. It returns false if the process has ended.
func (x *Exchange) Signal(s syscall.Signal) bool { return x.process.signal(s) }

// Configure replaces the configuration file.
func (x *Exchange) Configure(document []byte) {
	x.t.Helper()
	next := x.configPath() + ".next"
	if err := os.WriteFile(next, document, 0o600); err != nil {
		x.t.Fatal(err)
	}
	if err := os.Rename(next, x.configPath()); err != nil {
		x.t.Fatal(err)
	}
}

// Launch starts a process without waiting. It replays its log before it serves.
func (x *Exchange) Launch() {
	x.t.Helper()
	x.Starts++
	x.mayEnd = false
	command := slices.Concat(x.Through, []string{x.Program, "serve", "--config", x.configPath(), "--log-format", "json"}, x.flags)
	x.process = startProcess(x.t, fmt.Sprintf("%s, start %d", x.name, x.Starts), x.readLogLine, command[0], command[1:]...)
}

// Start starts a process and waits until it serves.
func (x *Exchange) Start() {
	x.t.Helper()
	began := time.Now()
	x.Launch()
	x.AwaitServing()
	x.Startup = time.Since(began)
}

// AwaitServing waits until a launched process serves.
func (x *Exchange) AwaitServing() {
	x.t.Helper()
	x.AwaitWhileRunning("the exchange serves", x.locator.isUp)
}

// AwaitWhileRunning is Await, and fails the test if the exchange ends in the meantime.
func (x *Exchange) AwaitWhileRunning(what string, is func() bool) {
	x.t.Helper()
	Await(x.t, what, func() bool {
		if end := x.ExitReport(); end != "" {
			x.t.Fatal(end)
		}
		return is()
	})
}

// LogLine holds the members of a line of the exchange's log that tests need.
type LogLine struct {
	Level  string `json:"level"`
	Msg    string `json:"msg"`
	Listen string `json:"listen"`
	Admin  string `json:"admin"`
}

// ServingURLs returns the URLs of both APIs, if the line reports that the exchange serves.
func (l *LogLine) ServingURLs() (public, admin string, serving bool) {
	return "http://" + l.Listen, "http://" + l.Admin, l.Msg == "serving"
}

// readLogLine takes the addresses and the errors from the exchange's own log.
func (x *Exchange) readLogLine(text string) {
	if x.output != nil {
		_, _ = x.output.WriteString(text + "\n") // only for the reader of a finding
	}
	var said LogLine
	if json.Unmarshal([]byte(text), &said) != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if said.Level == "ERROR" && (x.expectedError == nil || !x.expectedError.MatchString(text)) {
		x.errorLines = append(x.errorLines, text)
	}
	if public, admin, serving := said.ServingURLs(); serving {
		x.adminURL = admin
		x.locator.Publish(public)
	}
}

// Kill kills the process. It returns false if the process had already ended, which is not a
// fault if it ended without an error.
func (x *Exchange) Kill() (killed bool) {
	x.t.Helper()
	x.mayEnd = true
	alive := x.ExitReport() == ""
	x.process.kill()
	x.locator.Withdraw()
	if status, ok := x.process.cmd.ProcessState.Sys().(syscall.WaitStatus); alive && ok && status.Signaled() {
		return true
	}
	if x.process.Err != nil {
		x.t.Error(x.ExitReport())
	}
	return false
}

// failureTimeout is the time in which an exchange that cannot continue must end.
const failureTimeout = 30 * time.Second

// AwaitFailure waits until the exchange ends because it cannot keep its promises, and returns
// its exit code (negative for a signal). It discards the error lines of this end.
func (x *Exchange) AwaitFailure() (code int) {
	x.t.Helper()
	x.mayEnd = true
	awaitFor(x.t, "the exchange gives up", failureTimeout, func() bool { return x.ExitReport() != "" })
	x.locator.Withdraw()
	x.ClearErrors()
	return x.process.cmd.ProcessState.ExitCode()
}

// AwaitRefusal starts the exchange on a data directory that it must refuse. It returns the exit
// code and the output.
func (x *Exchange) AwaitRefusal() (code int, said string) {
	x.t.Helper()
	x.Launch()
	Await(x.t, "the exchange refuses to start", func() bool { return x.ExitReport() != "" || x.locator.isUp() })
	if x.locator.isUp() {
		x.t.Error("the exchange serves from a data directory that it must refuse")
		x.Kill()
	}
	x.ClearErrors()
	return x.process.cmd.ProcessState.ExitCode(), x.LastLines()
}

// ClearErrors discards the error lines so far.
func (x *Exchange) ClearErrors() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.errorLines = nil
}

// Stop stops the process with SIGTERM and waits for its end.
func (x *Exchange) Stop() {
	x.t.Helper()
	x.beginStop()
	x.awaitStop()
}

func (x *Exchange) beginStop() {
	x.mayEnd = true
	x.process.signal(syscall.SIGTERM)
}

func (x *Exchange) awaitStop() {
	x.t.Helper()
	Await(x.t, "the exchange stops", func() bool {
		select {
		case <-x.process.Ended:
			return true
		default:
			return false
		}
	})
	x.locator.Withdraw()
	if x.process.Err != nil {
		x.t.Errorf("SIGTERM ended the exchange with %v\n%s", x.process.Err, x.process.LastLines())
	}
}

// AdminRequest sends a request to the admin API as the operator.
func (x *Exchange) AdminRequest(method, path, body string) (status int, text []byte, err error) {
	status, text, _, err = SendAdmin(context.Background(), method, x.adminAddress()+path, strings.NewReader(body))
	return status, text, err
}

// adminAddress returns the URL of the current process's admin API.
func (x *Exchange) adminAddress() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.adminURL
}

// SendAdmin sends a request to an admin API. Headers are pairs of name and value. Without
// headers, or with only a precondition, it authenticates as the operator.
func SendAdmin(ctx context.Context, method, url string, body io.Reader, headers ...string) (status int, text []byte, header http.Header, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return 0, nil, nil, err
	}
	if len(headers) == 0 || headers[0] == "If-Match" || headers[0] == "If-None-Match" {
		req.SetBasicAuth("operator", AdminPassword)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	return response.StatusCode, text, response.Header, err
}

// AdminGet reads JSON into a value, or returns the text if into is nil. The exchange must be
// up. In a cluster it may be without a leader for a moment.
func (x *Exchange) AdminGet(path string, into any) (text string) {
	x.t.Helper()
	status, answer, err := x.AdminRequest("GET", path, "")
	for deadline := time.Now().Add(x.readPatience); (err != nil || status >= http.StatusInternalServerError) && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
		status, answer, err = x.AdminRequest("GET", path, "")
	}
	if err != nil || status != http.StatusOK {
		x.t.Fatalf("GET %s: %d %s %v %s", path, status, answer, err, x.process.exitReport())
	}
	if into == nil {
		return string(answer)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		x.t.Fatalf("GET %s: %v: %s", path, err, answer)
	}
	return ""
}

// StateHash is a log position with the state hash at it.
type StateHash struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// ReadStateHash returns the current position and state hash.
func (x *Exchange) ReadStateHash() (p StateHash) {
	x.t.Helper()
	x.AdminGet("/admin/v1/hash", &p)
	return p
}

// Metric returns the value of a metric without labels.
func (x *Exchange) Metric(name string) string {
	x.t.Helper()
	for text := range strings.Lines(x.AdminGet("/metrics", nil)) {
		if rest, ok := strings.CutPrefix(text, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	x.t.Fatalf("metric %s is missing", name)
	return ""
}

// ErrorLines returns the error lines of the exchange's log.
func (x *Exchange) ErrorLines() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]string(nil), x.errorLines...)
}
