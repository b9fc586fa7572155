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
	"time"

	"pingpost/loadtest/bench/child"
)

// gcSetting is the garbage collector setting of servers other than exchanges, and the one that an
// exchange with few live data has.
const gcSetting = "GOGC=400"

// process is a running server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	child.Addresses
}

// startServer starts a server and waits for its addresses: a log line in JSON with the
// member "listen". It writes spec to the standard input, which stays open while the
// process runs. killServers ends the server.
func (b *bench) startServer(cmd *exec.Cmd, list []int, spec []byte, timeout time.Duration) (*process, error) {
	output, outputWriter, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = outputWriter, outputWriter
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = startOn(cmd, list)
	}
	outputWriter.Close()
	if err != nil {
		output.Close()
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
		p.readOutput(output, ready)
		output.Close()
		_ = cmd.Wait() // the process was killed, or its output says why it ended
	}()
	select {
	case text := <-ready:
		if p.Listen == "" {
			<-p.ended
			return nil, fmt.Errorf("%s ended before it started serving:\n%s", cmd.Path, text)
		}
		b.guard.own = append(b.guard.own, p)
		return p, nil
	case <-time.After(timeout):
		p.kill()
		return nil, fmt.Errorf("%s did not start serving within %s", cmd.Path, timeout)
	}
}

// readOutput reads the output of a server until it ends. It sends one value to ready: an
// empty string when the server is ready, or the whole output if it ends before.
func (p *process) readOutput(output io.Reader, ready chan<- string) {
	var before bytes.Buffer
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var line child.Addresses
		if p.Listen != "" {
			continue
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Listen != "" {
			p.Addresses = line
			ready <- ""
			continue
		}
		before.Write(append(lines.Bytes(), '\n'))
	}
	if p.Listen == "" {
		ready <- before.String()
	}
}

// kill ends the process at once. Its data is discarded.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error means that it has already ended
	<-p.ended
}

// killServers ends all servers at once.
func (b *bench) killServers() {
	for _, p := range b.guard.own {
		p.kill()
	}
	b.guard.own = nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// cpuSeconds returns the CPU time of the process; 0 without /proc.
func (p *process) cpuSeconds() float64 {
	stat, err := procStat(p.cmd.Process.Pid)
	if err != nil {
		return 0
	}
	return stat.CPUTime()
}

// resident returns the resident memory of the process in bytes.
func (p *process) resident() (int, error) {
	stat, err := procStat(p.cmd.Process.Pid)
	return stat.ResidentMemory(), err
}

// startChild starts this program as a server in a role, pinned to some cores.
func (b *bench) startChild(list []int, role string, spec any, env ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(b.ctx, self, role)
	cmd.Env = append(append(os.Environ(), gcSetting), env...)
	return b.startServer(cmd, list, text, time.Minute)
}

// runChild runs a role of this program until it ends, pinned to some cores.
func runChild(ctx context.Context, list []int, env []string, role string, spec, result any) error {
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
