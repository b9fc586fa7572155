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
	"time"
)

// patience bounds every wait for what comes by itself. Nothing is measured by
// it: a machine that is slow makes the test slow.
const patience = 4 * time.Minute

// Build makes the program, with the race detector or without.
func Build(t Clerk, path string, detector bool) {
	t.Helper()
	args := []string{"build", "-o", path}
	if detector {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "pingpost/cmd/pingpost")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

// environment is that of every process that the test starts. A race ends the
// process; that there was none is known at once, without the detector's second
// of waiting for one at the end of each.
func environment() []string {
	return append(os.Environ(), "GORACE=halt_on_error=1 atexit_sleep_ms=0", "GOTRACEBACK=all", "PINGPOST_BUYER_TOKEN="+buyerToken)
}

// child is a process that the test has started.
type child struct {
	name string
	cmd  *exec.Cmd
	gone chan struct{} // closed when it has ended and all it said was read
	err  error         // of its end; to be read after gone

	mu   sync.Mutex
	said []string // its last lines
}

// spawn starts a process. Each line of both its outputs is handed to hear.
func spawn(t Clerk, name string, hear func(line string), path string, args ...string) *child {
	t.Helper()
	c := &child{name: name, cmd: exec.Command(path, args...), gone: make(chan struct{})}
	c.cmd.Env = environment()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Stdout, c.cmd.Stderr = write, write
	if err := c.cmd.Start(); err != nil {
		t.Fatalf("cannot start %s: %v", name, err)
	}
	_ = write.Close()
	go func() {
		c.listen(read, hear)
		c.err = c.cmd.Wait()
		_ = read.Close()
		close(c.gone)
	}()
	t.Cleanup(func() {
		c.signal(syscall.SIGKILL)
		<-c.gone
	})
	return c
}

// remembered is how many lines of a process are kept for a failure's report.
const remembered = 200

func (c *child) listen(from io.Reader, hear func(line string)) {
	lines := bufio.NewReader(from)
	for {
		text, err := lines.ReadString('\n')
		if text = strings.TrimSuffix(text, "\n"); text != "" {
			c.mu.Lock()
			c.said = append(c.said[max(0, len(c.said)-remembered+1):], text)
			c.mu.Unlock()
			hear(text)
		}
		if err != nil {
			return
		}
	}
}

func (c *child) lines() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.said, "\n")
}

// signal reports whether the process was still there to be told.
func (c *child) signal(s syscall.Signal) bool { return c.cmd.Process.Signal(s) == nil }

// kill ends the process at once.
func (c *child) kill() {
	c.signal(syscall.SIGKILL)
	<-c.gone
}

// ended says how the process ended; "" while it runs.
func (c *child) ended() string {
	select {
	case <-c.gone:
		return fmt.Sprintf("%s ended by itself: %v\n%s", c.name, c.err, c.lines())
	default:
		return ""
	}
}

// Await waits for something that comes by itself.
func Await(t Clerk, what string, is func() bool) {
	t.Helper()
	awaitFor(t, what, patience, is)
}

func awaitFor(t Clerk, what string, longest time.Duration, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(longest); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// A Door is where the exchange can be found now.
type Door struct {
	mu      sync.Mutex
	address string
	changed chan struct{}
	since   time.Time     // that it is shut; zero: it is open
	down    time.Duration // that it was shut before
}

// NewDoor is one that is shut.
func NewDoor() *Door { return &Door{changed: make(chan struct{})} }

// Open says where it is.
func (d *Door) Open(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.address = address
	if !d.since.IsZero() {
		d.down += time.Since(d.since)
		d.since = time.Time{}
	}
	close(d.changed)
	d.changed = make(chan struct{})
}

// Shut says that it is nowhere.
func (d *Door) Shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.address = ""; d.since.IsZero() {
		d.since = time.Now()
	}
}

// lost is how long it was shut in all.
func (d *Door) lost() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.since.IsZero() {
		return d.down
	}
	return d.down + time.Since(d.since)
}

func (d *Door) isOpen() bool { return d.at() != "" }

// at is the address; empty while the door is shut.
func (d *Door) at() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.address
}

// find waits until there is an address; "": the context has ended.
func (d *Door) find(ctx context.Context) string {
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
