package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/oauth2/clientcredentials"

	"pingpost/fuzz/powerloss/strace"
)

// patience limits every wait. It measures no speed.
const patience = 60 * time.Second

// process is one lifetime of the exchange, recorded or not.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
	err     error // of its end; valid after ended is closed

	mu            sync.Mutex
	lines         []string
	public, admin string
	serving       chan struct{} // closed when the exchange serves
}

// startProcess starts the program on a folder that contains a configuration. It records the
// calls into the file record, unless that is empty.
func startProcess(ctx context.Context, program, folder, record string) (*process, error) {
	args := []string{
		"serve", "--config", filepath.Join(folder, "exchange.json"), "--log-format", "json",
		"--backup-to", backupDir(folder), "--backup-key-file", recipientFile(folder),
	}
	p := &process{ended: make(chan struct{}), serving: make(chan struct{})}
	if record == "" {
		p.command = exec.CommandContext(ctx, program, args...)
	} else {
		p.command = strace.Command(ctx, record, program, args...)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.command.Stdout, p.command.Stderr = write, write
	err = p.command.Start()
	write.Close()
	if err != nil {
		read.Close()
		return nil, fmt.Errorf("cannot start the exchange: %w", err)
	}
	go func() {
		p.readOutput(read)
		read.Close()
		p.err = p.command.Wait()
		close(p.ended)
	}()
	return p, nil
}

// readOutput collects the exchange's log lines.
func (p *process) readOutput(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Msg    string `json:"msg"`
			Listen string `json:"listen"`
			Admin  string `json:"admin"`
		}
		known := json.Unmarshal(lines.Bytes(), &line) == nil
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		if known && line.Msg == "serving" {
			p.public, p.admin = "http://"+line.Listen, "http://"+line.Admin
			close(p.serving)
		}
		p.mu.Unlock()
	}
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// awaitServing waits until the exchange serves.
func (p *process) awaitServing() error {
	select {
	case <-p.serving:
		return nil
	case <-p.ended:
		return fmt.Errorf("the exchange ended before it served: %w\n%s", p.err, p.output())
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
	case <-p.ended:
	case <-time.After(patience):
		return errors.Join(errors.New("the exchange did not end in time"), server.Kill())
	}
	if signal == syscall.SIGTERM && p.err != nil {
		return fmt.Errorf("SIGTERM ended the exchange with %w\n%s", p.err, p.output())
	}
	return nil
}

// applyConfig activates a configuration.
func (p *process) applyConfig(ctx context.Context, document []byte) error {
	return p.adminRequest(ctx, http.MethodPut, "/admin/v1/config", document)
}

// adminRequest sends an admin request that must succeed.
func (p *process) adminRequest(ctx context.Context, method, path string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, method, p.admin+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.SetBasicAuth("operator", adminPassword)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %d %s, %w", method, path, response.StatusCode, text, err)
	}
	return nil
}

// pollMetrics requests the metrics repeatedly until stop is called. They report the backup's
// progress: see backedUpTick.
func (p *process) pollMetrics(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for p.adminRequest(ctx, http.MethodGet, "/metrics", nil) == nil { // ends with the exchange
			select {
			case <-time.After(30 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	return func() { cancel(); watching.Wait() }
}

// fetchToken returns a client's OAuth token. It stays valid over restarts.
func (p *process) fetchToken(ctx context.Context, client string, scopes ...string) (string, error) {
	config := clientcredentials.Config{ClientID: client, ClientSecret: clientSecret, Scopes: scopes, TokenURL: p.public + "/oauth/token"}
	granted, err := config.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("cannot get a token for %s: %w", client, err)
	}
	return granted.AccessToken, nil
}
