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
	args := []string{
		"serve", "--config", filepath.Join(folder, "exchange.json"), "--log-format", "json",
		"--backup-to", storeIn(folder), "--backup-key-file", recipientIn(folder),
	}
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

// watch asks for the metrics again and again, one after the other, until it is told to
// stop: in them the exchange says what is backed up. See shippedUpTo.
func (p *process) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for p.operate(ctx, http.MethodGet, "/metrics", nil) == nil { // an exchange that dies answers no more
			select {
			case <-time.After(30 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	return func() { cancel(); watching.Wait() }
}

// token is a client's, good for all lives.
func (p *process) token(ctx context.Context, client string, scopes ...string) (string, error) {
	config := clientcredentials.Config{ClientID: client, ClientSecret: clientSecret, Scopes: scopes, TokenURL: p.public + "/oauth/token"}
	granted, err := config.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("no token for %s: %w", client, err)
	}
	return granted.AccessToken, nil
}
