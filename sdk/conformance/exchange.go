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
	"syscall"
	"text/template"
	"time"
)

func buildExchange(ctx context.Context, root, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/pingpost")
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the exchange: %w\n%s", err, said)
	}
	return nil
}

// tenants are the tenants of the exchange by name.
var tenants = []string{"live", "sandbox"}

// exchange is a process of the real program with both tenants.
type exchange struct {
	cmd  *exec.Cmd
	gone chan struct{}

	mu     sync.Mutex
	listen map[string]string // public address of each serving tenant
	said   bytes.Buffer
}

// startExchange writes the configurations with the environment's variables, and waits until both
// tenants serve.
func startExchange(ctx context.Context, place, program string, terms variables) (*exchange, error) {
	args := []string{"serve", "--log-format", "json"}
	for _, tenant := range tenants {
		path := filepath.Join(place, tenant+".yaml")
		if err := writeConfig(path, tenant, terms); err != nil {
			return nil, err
		}
		args = append(args, "--config", path)
	}
	x := &exchange{cmd: exec.CommandContext(ctx, program, args...), gone: make(chan struct{}), listen: map[string]string{}}
	x.cmd.Cancel = func() error { return x.cmd.Process.Signal(syscall.SIGTERM) }
	out, err := x.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := x.cmd.Start(); err != nil {
		return nil, err
	}
	go x.readLog(out)
	for deadline := time.Now().Add(answerTimeout); ; time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		serving, said := len(x.listen) == len(tenants), x.said.String()
		x.mu.Unlock()
		select {
		case <-x.gone:
			return nil, errors.New("the exchange ended unexpectedly:\n" + said)
		default:
		}
		if serving {
			return x, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("the exchange does not serve after %v:\n%s", answerTimeout, said), x.stop())
		}
	}
}

func writeConfig(path, tenant string, terms variables) error {
	form, err := template.New(tenant).Option("missingkey=error").Parse(configs[tenant])
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := form.Execute(&text, map[string]any(terms)); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o600)
}

// readLog reads the addresses from the exchange's log.
func (x *exchange) readLog(out io.Reader) {
	defer close(x.gone)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var line struct {
			Msg    string `json:"msg"`
			Tenant string `json:"tenant"`
			Listen string `json:"listen"`
		}
		x.mu.Lock()
		x.said.Write(append(lines.Bytes(), '\n'))
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			x.listen[line.Tenant] = "http://" + line.Listen
		}
		x.mu.Unlock()
	}
}

func (x *exchange) stop() error {
	_ = x.cmd.Process.Signal(syscall.SIGTERM)
	<-x.gone
	return x.cmd.Wait()
}
