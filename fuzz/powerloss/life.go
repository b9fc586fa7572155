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

	"pingpost/fuzz/powerloss/strace"
)

// patience bounds every wait for what comes by itself. Nothing is measured by it.
const patience = 60 * time.Second

// process is one life of the exchange, recorded or not.
type process struct {
	command *exec.Cmd
	gone    chan struct{}
	err     error // of its end; to be read after gone

	mu            sync.Mutex
	said          []string
	public, admin string
	serving       chan struct{} // closed when it serves
}

// begin starts the program on a folder with a configuration in it. Where record is
// not empty, that is the file it is recorded into.
func begin(ctx context.Context, program, folder, record string) (*process, error) {
	args := []string{"serve", "--config", filepath.Join(folder, "exchange.json"), "--log-format", "json"}
	p := &process{gone: make(chan struct{}), serving: make(chan struct{})}
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
		p.listen(read)
		read.Close()
		p.err = p.command.Wait()
		close(p.gone)
	}()
	return p, nil
}

// listen reads what the exchange says of itself.
func (p *process) listen(from io.Reader) {
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
		p.said = append(p.said, lines.Text())
		if known && line.Msg == "serving" {
			p.public, p.admin = "http://"+line.Listen, "http://"+line.Admin
			close(p.serving)
		}
		p.mu.Unlock()
	}
}

func (p *process) words() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.said, "\n")
}

// ready waits until it serves.
func (p *process) ready() error {
	select {
	case <-p.serving:
		return nil
	case <-p.gone:
		return fmt.Errorf("the exchange ended before it served: %w\n%s", p.err, p.words())
	case <-time.After(patience):
		return errors.Join(errors.New("the exchange never served"), p.end(syscall.SIGKILL))
	}
}

// end signals the exchange and waits until it is gone, and its record whole.
func (p *process) end(signal syscall.Signal) error {
	server := p.command.Process
	if filepath.Base(p.command.Path) == "strace" {
		traced, err := strace.Traced(p.command)
		if err != nil {
			return errors.Join(err, p.command.Process.Kill())
		}
		server = traced
	}
	if err := server.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.gone:
	case <-time.After(patience):
		return errors.Join(errors.New("the exchange does not end"), server.Kill())
	}
	if signal == syscall.SIGTERM && p.err != nil {
		return fmt.Errorf("an orderly stop ended with %w\n%s", p.err, p.words())
	}
	return nil
}

// apply puts a configuration into force.
func (p *process) apply(ctx context.Context, document []byte) error {
	return p.operate(ctx, http.MethodPut, "/admin/v1/config", document)
}

// operate asks the admin address for something that has to come.
func (p *process) operate(ctx context.Context, method, path string, body []byte) error {
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

// token is a client's, good for all lives.
func (p *process) token(ctx context.Context, client, scope string) (string, error) {
	body := encode(object{"grant_type": "client_credentials", "client_id": client, "client_secret": clientSecret, "scope": scope})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.public+"/oauth/token", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var said struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil || said.Token == "" {
		return "", fmt.Errorf("no token for %s: status %d, %w", client, response.StatusCode, err)
	}
	return said.Token, nil
}
