//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"pingpost/loadtest/refbuyer"
)

// runBuyer starts the program as a buyer. What it prints comes line by line.
func runBuyer(t *testing.T, args ...string) (process *exec.Cmd, out *bufio.Reader) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process = exec.Command(program, append([]string{"buyer", "--listen", "127.0.0.1:0"}, args...)...)
	process.Env = append(os.Environ(), asProgram+"=1")
	process.Stderr = os.Stderr
	pipe, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if process.ProcessState == nil {
			_ = process.Process.Kill()
			_ = process.Wait()
		}
	})
	return process, bufio.NewReader(pipe)
}

// TestBuyerProcess: it says where it is, bids, and gives its account when it is
// told to go.
func TestBuyerProcess(t *testing.T) {
	process, out := runBuyer(t, "--bid", "8-20", "--states", "CA")
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base, ok := strings.CutPrefix(strings.TrimSpace(line), "reference buyer on ")
	if !ok {
		t.Fatalf("it says %q", line)
	}
	for _, state := range []string{"CA", "TX"} {
		r, err := http.NewRequest(http.MethodPost, base+"/v1/ping", strings.NewReader(`{"auction_id":"a","vertical":"auto","tcpa_consent":true,"state":"`+state+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "key_"+state)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || strings.Contains(string(text), `"bid":null`) != (state == "TX") {
			t.Errorf("%s: %d %s %v", state, response.StatusCode, text, err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	account, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Wait(); err != nil {
		t.Error(err)
	}
	var stats refbuyer.Stats
	if err := json.Unmarshal(account, &stats); err != nil || stats.Pings != 2 || stats.Bids != 1 || stats.NoBids != 1 {
		t.Errorf("its account: %s %v", account, err)
	}
}

// TestBuyerQuiet: with --quiet it prints nothing at all, and a mistake ends it
// at once.
func TestBuyerQuiet(t *testing.T) {
	process, out := runBuyer(t, "--quiet", "--rate=-1")
	said, err := io.ReadAll(out)
	if err != nil || len(said) > 0 {
		t.Errorf("%q %v", said, err)
	}
	if err := process.Wait(); err == nil || process.ProcessState.ExitCode() != 1 {
		t.Errorf("a rate of -1: %v", err)
	}
}
