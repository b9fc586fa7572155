package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
)

// driverFile says how an SDK's driver is built and started, from the SDK's folder.
const driverFile = "conformance/driver.yaml"

// patience bounds every wait for an answer. Nothing is measured by it.
const patience = 90 * time.Second

// command is how a driver is started. OUT in its lines is a folder that is the
// driver's to build into.
type command struct {
	Build string `yaml:"build"` // a line of sh; none where there is nothing to build
	Run   string `yaml:"run"`   // likewise; it should end in exec, so that the driver is the child

	folder, out string
}

func readDriver(folder, out string) (command, error) {
	path := filepath.Join(folder, driverFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return command{}, fmt.Errorf("no driver: %w", err)
	}
	c := command{folder: folder, out: out}
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil {
		return command{}, fmt.Errorf("%s: %w", path, err)
	}
	if c.Run == "" {
		return command{}, fmt.Errorf("%s: no run, the line that starts the driver", path)
	}
	c.out, err = filepath.Abs(out)
	return c, err
}

func (c *command) shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = c.folder
	cmd.Env = append(os.Environ(), "OUT="+c.out)
	return cmd
}

func (c *command) build(ctx context.Context) error {
	if c.Build == "" {
		return nil
	}
	if said, err := c.shell(ctx, c.Build).CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the driver: %w\n%s", err, said)
	}
	return nil
}

func (c *command) start(ctx context.Context) (*driver, error) {
	errs, err := os.OpenFile(filepath.Join(c.out, "driver.stderr"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer errs.Close()
	cmd := c.shell(ctx, c.Run)
	cmd.Stderr = errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the driver: %w", err)
	}
	d := newDriver(in, out)
	d.complaints = errs.Name()
	d.end = func() error {
		_ = in.Close()
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		<-d.gone
		return cmd.Wait()
	}
	return d, nil
}

// driver is one that runs. Requests may be open side by side; each waits for the
// answer of its id.
type driver struct {
	in         io.Writer
	end        func() error // closes its input, and waits for its end
	complaints string       // the file that has what it wrote to stderr
	gone       chan struct{}

	mu     sync.Mutex
	last   int
	open   map[int]chan reply
	broken error // why there will be no more answers
}

// reply is an answer as it was read, and the line that it was read from.
type reply struct {
	value map[string]any
	line  string
}

func newDriver(in io.Writer, out io.Reader) *driver {
	d := &driver{in: in, gone: make(chan struct{}), open: map[int]chan reply{}, end: func() error { return nil }}
	go d.listen(out)
	return d
}

func (d *driver) listen(out io.Reader) {
	defer close(d.gone)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if wrong := d.hand(line); wrong != nil {
				d.breakOff(wrong)
			}
		}
		if err != nil {
			d.breakOff(fmt.Errorf("the driver's output ended: %w", err))
			return
		}
	}
}

func (d *driver) hand(line []byte) error {
	value, err := decode(line)
	said, isObject := value.(map[string]any)
	if err != nil || !isObject {
		return fmt.Errorf("the driver wrote what is no line of the protocol: %.300q", line)
	}
	number, _ := said["id"].(json.Number)
	id, err := number.Int64()
	d.mu.Lock()
	defer d.mu.Unlock()
	waiting, known := d.open[int(id)]
	if err != nil || !known {
		return fmt.Errorf("the driver answered what nobody asked: %.300q", line)
	}
	delete(d.open, int(id))
	waiting <- reply{said, string(line)}
	return nil
}

func (d *driver) breakOff(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken == nil {
		d.broken = err
	}
	for id, waiting := range d.open {
		close(waiting)
		delete(d.open, id)
	}
}

// ask sends a request and waits for its answer. The request gets an id.
func (d *driver) ask(request map[string]any) (reply, error) {
	waiting := make(chan reply, 1)
	d.mu.Lock()
	if d.broken != nil {
		d.mu.Unlock()
		return reply{}, d.broken
	}
	d.last++
	request["id"] = d.last
	d.open[d.last] = waiting
	line, err := json.Marshal(request)
	if err == nil {
		_, err = d.in.Write(append(line, '\n'))
	}
	d.mu.Unlock()
	if err != nil {
		return reply{}, fmt.Errorf("cannot ask the driver: %w", err)
	}
	select {
	case answer, ok := <-waiting:
		if !ok {
			return reply{}, d.why()
		}
		return answer, nil
	case <-time.After(patience):
		return reply{}, fmt.Errorf("the driver did not answer in %v", patience)
	}
}

func (d *driver) why() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	said, err := os.ReadFile(d.complaints)
	if err != nil || len(said) == 0 {
		return d.broken
	}
	return errors.Join(d.broken, fmt.Errorf("its last words: %s", said[max(0, len(said)-1500):]))
}
