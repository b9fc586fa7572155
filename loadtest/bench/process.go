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
	"strconv"
	"strings"
	"time"
)

// collector is the garbage collector's setting of every server that is
// measured: the exchange's own default.
const collector = "GOGC=400"

// process is a server that runs until it is ended.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	serving
}

// serving is what a server's log line says once it takes requests.
type serving struct {
	Listen string   `json:"listen"`           // where it takes them
	Admin  string   `json:"admin,omitempty"`  // where its operator does
	Buyers []string `json:"buyers,omitempty"` // of the buyers' process: where each listens, Listen the first
	Hooked []string `json:"hooked,omitempty"` // of the webhook endpoints' process: where each listens
}

// startServer starts a server and waits until it says where it listens: a line
// in JSON with "listen" in it. spec goes to its standard input, which stays
// open until the process is ended.
func startServer(cmd *exec.Cmd, list []int, spec []byte, patience time.Duration) (*process, error) {
	said, says, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = says, says
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = startOn(cmd, list)
	}
	says.Close()
	if err != nil {
		said.Close()
		return nil, fmt.Errorf("cannot start %s: %w", cmd.Path, err)
	}
	if len(spec) > 0 {
		if _, err := stdin.Write(append(spec, '\n')); err != nil {
			return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
		}
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	ready := make(chan string, 1)
	go func() {
		defer close(p.ended)
		p.listenTo(said, ready)
		said.Close()
		_ = cmd.Wait() // ended by us, or its own words have told why
	}()
	select {
	case text := <-ready:
		if p.Listen == "" {
			<-p.ended
			return nil, fmt.Errorf("%s ended before it served:\n%s", cmd.Path, text)
		}
		return p, nil
	case <-time.After(patience):
		p.end()
		return nil, fmt.Errorf("%s does not serve after %s", cmd.Path, patience)
	}
}

// listenTo reads what a server says to the end. ready gets one value: when it
// serves, or all it said when it ended before.
func (p *process) listenTo(said io.Reader, ready chan<- string) {
	var before bytes.Buffer
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		var line serving
		if p.Listen != "" {
			continue
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Listen != "" {
			p.serving = line
			ready <- ""
			continue
		}
		before.Write(append(lines.Bytes(), '\n'))
	}
	if p.Listen == "" {
		ready <- before.String()
	}
}

// end ends the process at once: its data is thrown away.
func (p *process) end() {
	_ = p.cmd.Process.Kill() // gone already is as well
	<-p.ended
}

// ticks is the time that the process has used.
func (p *process) ticks() (int64, error) {
	return ticksOf("/proc/"+strconv.Itoa(p.cmd.Process.Pid)+"/stat", false)
}

// resident is the memory that the process has, in bytes.
func (p *process) resident() (int64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		return 0, err
	}
	return residentOf(string(text))
}

func residentOf(status string) (int64, error) {
	for line := range strings.Lines(status) {
		value, found := strings.CutPrefix(line, "VmRSS:")
		if !found {
			continue
		}
		kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		return kilobytes << 10, err
	}
	return 0, errProc
}

// startRole starts this program as a server in a role, on some cores.
func startRole(ctx context.Context, list []int, role string, spec any, env ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, role)
	cmd.Env = append(append(os.Environ(), collector), env...)
	return startServer(cmd, list, text, time.Minute)
}

// child runs a role of this program to its end, on some cores.
func child(ctx context.Context, list []int, env []string, role string, spec, result any) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, role)
	cmd.Env = append(os.Environ(), env...)
	var out, trouble bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &trouble
	if err := startOn(cmd, list); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", role, err, trouble.Bytes())
	}
	return json.Unmarshal(out.Bytes(), result)
}
