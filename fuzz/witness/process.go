//go:build unix

package witness

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pingpost/fuzz/mutant"
)

// patience limits every wait. It measures no speed: on a slow machine the test only takes
// longer.
const patience = 4 * time.Minute

// Build builds the program, with or without the race detector, which does not watch SQLite and
// x/crypto, as in the tests of the Makefile.
func Build(t testing.TB, path string, detector bool) {
	t.Helper()
	var args []string
	if detector {
		args = append(args, "-race", "-gcflags=modernc.org/...=-race=false", "-gcflags=golang.org/x/crypto/...=-race=false")
	}
	if err := mutant.Build(t.Context(), ".", "pingpost/cmd/pingpost", path, args); err != nil {
		t.Fatal(err)
	}
}

// environment returns the environment of every started process. A data race ends the process at
// once. atexit_sleep_ms=0 saves the race detector's second of waiting at each normal exit.
func environment() []string {
	return append(os.Environ(), "GORACE=halt_on_error=1 atexit_sleep_ms=0", "GOTRACEBACK=all", "PINGPOST_BUYER_TOKEN="+BuyerToken)
}

// Process is a running program with its output.
type Process struct {
	name  string
	cmd   *exec.Cmd
	Ended chan struct{} // closed when the process has ended and its output was read
	Err   error         // of its end; valid after Ended is closed

	mu        sync.Mutex
	lastLines []string // its last output lines
}

// StartProcess starts a command. It passes each line of stdout and stderr to onLine.
func StartProcess(name string, cmd *exec.Cmd, onLine func(line string)) (*Process, error) {
	c := &Process{name: name, cmd: cmd, Ended: make(chan struct{})}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = write, write
	err = cmd.Start()
	write.Close()
	if err != nil {
		read.Close()
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	go func() {
		c.readOutput(read, onLine)
		c.Err = cmd.Wait()
		read.Close()
		close(c.Ended)
	}()
	return c, nil
}

// startProcess starts a program that the end of the test kills.
func startProcess(t testing.TB, name string, onLine func(line string), path string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = environment()
	c, err := StartProcess(name, cmd, onLine)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

// keptLines is the number of output lines that a failure report shows.
const keptLines = 200

func (c *Process) readOutput(from io.Reader, onLine func(line string)) {
	lines := bufio.NewReader(from)
	for {
		text, err := lines.ReadString('\n')
		if text = strings.TrimSuffix(text, "\n"); text != "" {
			c.mu.Lock()
			c.lastLines = append(c.lastLines[max(0, len(c.lastLines)-keptLines+1):], text)
			c.mu.Unlock()
			onLine(text)
		}
		if err != nil {
			return
		}
	}
}

// LastLines returns the last output lines.
func (c *Process) LastLines() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lastLines, "\n")
}

// signal sends a signal. It returns false if the process has ended.
func (c *Process) signal(s syscall.Signal) bool { return c.cmd.Process.Signal(s) == nil }

// kill kills the process and waits for its end.
func (c *Process) kill() {
	c.signal(syscall.SIGKILL)
	<-c.Ended
}

// exitReport returns how the process ended, or "" while it runs.
func (c *Process) exitReport() string {
	select {
	case <-c.Ended:
		return fmt.Sprintf("%s ended unexpectedly: %v\n%s", c.name, c.Err, c.LastLines())
	default:
		return ""
	}
}

// Await waits until is returns true. After patience it fails the test.
func Await(t testing.TB, what string, is func() bool) {
	t.Helper()
	awaitFor(t, what, patience, is)
}

func awaitFor(t testing.TB, what string, longest time.Duration, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(longest); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for: %s", what)
		}
	}
}

// Locator publishes the exchange's current address to clients.
type Locator struct {
	mu       sync.Mutex
	address  string
	changed  chan struct{}
	nodes    []string       // addresses of a cluster's nodes: clients send to them in turn, whether they run or not
	next     int            // index of the next one of nodes
	patience time.Duration  // a client of a cluster waits so long for an answer
	attempts map[string]int // of clients of a cluster, by result
}

// NewLocator returns a locator without an address.
func NewLocator() *Locator { return &Locator{changed: make(chan struct{})} }

// newClusterLocator returns a locator for the nodes of a cluster. Clients give up an attempt after the
// patience, and send the request to the next node.
func newClusterLocator(patience time.Duration, addresses ...string) *Locator {
	return &Locator{nodes: addresses, patience: patience, attempts: map[string]int{}}
}

// countAttempt counts an attempt of a client at a cluster.
func (d *Locator) countAttempt(result string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.attempts != nil {
		d.attempts[result]++
	}
}

// takeAttempts returns the number of attempts by result since the last call.
func (d *Locator) takeAttempts() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.attempts
	d.attempts = map[string]int{}
	return all
}

// Publish sets the address and wakes waiting clients.
func (d *Locator) Publish(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.address = address
	close(d.changed)
	d.changed = make(chan struct{})
}

// Withdraw removes the address.
func (d *Locator) Withdraw() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.address = ""
}

func (d *Locator) isUp() bool { return d.current() != "" }

// current returns the address, or "" while there is none. In a cluster it returns that of the next node.
func (d *Locator) current() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.nodes) > 0 {
		d.next++
		return d.nodes[d.next%len(d.nodes)]
	}
	return d.address
}

// await waits for an address. It returns "" when the context ends.
func (d *Locator) await(ctx context.Context) string {
	if len(d.nodes) > 0 {
		return d.current()
	}
	for {
		d.mu.Lock()
		address, changed := d.address, d.changed
		d.mu.Unlock()
		if address != "" {
			return address
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ""
		}
	}
}
