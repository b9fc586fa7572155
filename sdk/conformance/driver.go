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

// driverFile describes how to build and start an SDK's driver, relative to the SDK's folder.
const driverFile = "conformance/driver.yaml"

// answerTimeout limits every wait for an answer. It measures no speed.
const answerTimeout = 90 * time.Second

// driverCommand is the content of driverFile. OUT in its lines is a folder for build results.
type driverCommand struct {
	Build string `yaml:"build"` // a line of sh; empty: no build is needed
	Run   string `yaml:"run"`   // a line of sh; it should end in exec, so that the driver is the child process

	folder, out string
}

func readDriver(folder, out string) (driverCommand, error) {
	path := filepath.Join(folder, driverFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return driverCommand{}, fmt.Errorf("no driver: %w", err)
	}
	c := driverCommand{folder: folder, out: out}
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil {
		return driverCommand{}, fmt.Errorf("%s: %w", path, err)
	}
	if c.Run == "" {
		return driverCommand{}, fmt.Errorf("%s: run is missing, the command that starts the driver", path)
	}
	c.out, err = filepath.Abs(out)
	return c, err
}

func (c *driverCommand) shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = c.folder
	cmd.Env = append(os.Environ(), "OUT="+c.out)
	return cmd
}

func (c *driverCommand) build(ctx context.Context) error {
	if c.Build == "" {
		return nil
	}
	if output, err := c.shell(ctx, c.Build).CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the driver: %w\n%s", err, output)
	}
	return nil
}

func (c *driverCommand) start(ctx context.Context) (*driver, error) {
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
	d.stderrPath = errs.Name()
	d.stop = func() error {
		_ = in.Close()
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		<-d.gone
		return cmd.Wait()
	}
	return d, nil
}

// driver is a running driver. Requests may overlap; an answer belongs to the request with its
// id.
type driver struct {
	in         io.Writer
	stop       func() error // closes the driver's input and waits for its end
	stderrPath string       // file with the driver's stderr
	gone       chan struct{}

	mu     sync.Mutex
	last   int
	open   map[int]chan reply
	broken error // reason why no more answers can arrive
}

// reply is an answer and its line.
type reply struct {
	value map[string]any
	line  string
}

func newDriver(in io.Writer, out io.Reader) *driver {
	d := &driver{in: in, gone: make(chan struct{}), open: map[int]chan reply{}, stop: func() error { return nil }}
	go d.listen(out)
	return d
}

func (d *driver) listen(out io.Reader) {
	defer close(d.gone)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if wrong := d.deliverReply(line); wrong != nil {
				d.failOpenRequests(wrong)
			}
		}
		if err != nil {
			d.failOpenRequests(fmt.Errorf("the driver's output ended: %w", err))
			return
		}
	}
}

func (d *driver) deliverReply(line []byte) error {
	value, err := decode(line)
	object, isObject := value.(map[string]any)
	if err != nil || !isObject {
		return fmt.Errorf("the driver wrote an invalid line: %.300q", line)
	}
	number, _ := object["id"].(json.Number)
	id, err := number.Int64()
	d.mu.Lock()
	defer d.mu.Unlock()
	waiting, known := d.open[int(id)]
	if err != nil || !known {
		return fmt.Errorf("the driver answered an unknown request id: %.300q", line)
	}
	delete(d.open, int(id))
	waiting <- reply{object, string(line)}
	return nil
}

func (d *driver) failOpenRequests(err error) {
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

// request sends a request with a new id and waits for its answer.
func (d *driver) request(request map[string]any) (reply, error) {
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
		return reply{}, fmt.Errorf("cannot write to the driver: %w", err)
	}
	select {
	case answer, ok := <-waiting:
		if !ok {
			return reply{}, d.brokenReason()
		}
		return answer, nil
	case <-time.After(answerTimeout):
		return reply{}, fmt.Errorf("the driver did not answer in %v", answerTimeout)
	}
}

func (d *driver) brokenReason() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	stderr, err := os.ReadFile(d.stderrPath)
	if err != nil || len(stderr) == 0 {
		return d.broken
	}
	return errors.Join(d.broken, fmt.Errorf("the end of its stderr: %s", stderr[max(0, len(stderr)-1500):]))
}
