package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"pingpost/fuzz/powerloss/strace"
	"pingpost/fuzz/witness"
)

// patience limits every wait. It measures no speed.
const patience = 60 * time.Second

// process is one lifetime of the exchange, recorded or not.
type process struct {
	*witness.Process
	command *exec.Cmd

	public, admin string        // URLs of both APIs; valid after serving is closed
	serving       chan struct{} // closed when the exchange serves
}

// startProcess starts the program on a folder that contains a configuration. It records the
// calls into the file record, unless that is empty.
func startProcess(ctx context.Context, program, folder, record string, flags ...string) (p *process, err error) {
	args := append([]string{"serve", "--config", filepath.Join(folder, "exchange.json"), "--log-format", "json"}, flags...)
	p = &process{serving: make(chan struct{})}
	if record == "" {
		p.command = exec.CommandContext(ctx, program, args...)
	} else {
		p.command = strace.Command(ctx, record, program, args...)
	}
	p.Process, err = witness.StartProcess("the exchange", p.command, func(text string) {
		var line witness.LogLine
		if json.Unmarshal([]byte(text), &line) != nil {
			return
		}
		if public, admin, serving := line.ServingURLs(); serving {
			p.public, p.admin = public, admin
			close(p.serving)
		}
	})
	return p, err
}

// awaitServing waits until the exchange serves.
func (p *process) awaitServing() error {
	select {
	case <-p.serving:
		return nil
	case <-p.Ended:
		return fmt.Errorf("the exchange ended before it served: %w\n%s", p.Err, p.LastLines())
	case <-time.After(patience):
		return errors.Join(errors.New("the exchange did not serve in time"), p.stop(syscall.SIGKILL))
	}
}

// stop sends the signal and waits until the process has ended and its record is complete.
func (p *process) stop(signal syscall.Signal) error {
	server := p.command.Process
	if filepath.Base(p.command.Path) == "strace" {
		traced, err := strace.TracedProcess(p.command)
		if err != nil {
			return errors.Join(err, p.command.Process.Kill())
		}
		server = traced
	}
	if err := server.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.Ended:
	case <-time.After(patience):
		return errors.Join(errors.New("the exchange did not end in time"), server.Kill())
	}
	if signal == syscall.SIGTERM && p.Err != nil {
		return fmt.Errorf("SIGTERM ended the exchange with %w\n%s", p.Err, p.LastLines())
	}
	return nil
}

// adminCall sends an admin request that must succeed. With a precondition in the header, an
// object that already exists is no error.
func (p *process) adminCall(ctx context.Context, method, path, body string, header ...string) (text []byte, err error) {
	status, text, _, err := witness.SendAdmin(ctx, method, p.admin+path, strings.NewReader(body), header...)
	if err == nil && status >= 300 && (status != http.StatusConflict || len(header) == 0) {
		err = fmt.Errorf("%s %s: %d %s", method, path, status, text)
	}
	return text, err
}

// pollMetrics requests the metrics repeatedly until stop is called. They report the backup's
// progress: see lastBackedUpTick.
func (p *process) pollMetrics(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			if _, err := p.adminCall(ctx, http.MethodGet, "/metrics", ""); err != nil {
				return // the exchange or the context has ended
			}
			select {
			case <-time.After(30 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	return func() { cancel(); watching.Wait() }
}
