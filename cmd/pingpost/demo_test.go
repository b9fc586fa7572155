package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pingpost/loadtest/trial"
)

// runningDemo is a demonstration in its own process.
type runningDemo struct {
	cmd *exec.Cmd
	dir string
	out *bufio.Scanner
	err strings.Builder
}

func startDemoProcess(t *testing.T, args ...string) *runningDemo {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := &runningDemo{dir: filepath.Join(t.TempDir(), "demo")}
	d.cmd = exec.Command(program, append([]string{"demo", "--dir", d.dir}, args...)...)
	d.cmd.Env, d.cmd.Stderr = append(os.Environ(), asProgram+"=1"), &d.err
	pipe, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.out = bufio.NewScanner(pipe)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
	})
	return d
}

// read returns the output up to a line that begins with the text, or all of it.
func (d *runningDemo) read(t *testing.T, begins string) (text string) {
	t.Helper()
	for d.out.Scan() {
		text += d.out.Text() + "\n"
		if begins != "" && strings.HasPrefix(d.out.Text(), begins) {
			return text
		}
	}
	if begins != "" {
		t.Fatalf("no line begins with %q:\n%s\n%s", begins, text, d.err.String())
	}
	return text
}

func TestDemoOnce(t *testing.T) {
	d := startDemoProcess(t, "--once", "--leads", "400", "--rate", "400")
	text := d.read(t, "")
	if err := d.cmd.Wait(); err != nil {
		t.Fatalf("%v:\n%s%s", err, text, d.err.String())
	}
	for _, want := range []string{
		"\n  cmp_auto ", "\n  cmp_solar", "\n  cmp_life ", "\n  cmp_bids ", "440 of 440 arrivals", "by ingest, ", "by ping and post, ",
		"440 of 440 expected webhooks received", "mismatches: 0", "by their own count: 0", "insufficient_funds", "p99",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, b := range demoBuyers {
		if !strings.Contains(text, "\n  "+b.ID+" ") {
			t.Errorf("buyer %s is not listed", b.ID)
		}
	}
}

// TestDemoKeepsRunning: after the figures the demonstration serves until Ctrl-C. The
// printed request for the sandbox works.
func TestDemoKeepsRunning(t *testing.T) {
	d := startDemoProcess(t, "--leads", "50", "--rate", "500")
	text := d.read(t, "Ctrl-C")
	found := regexp.MustCompile(`(?s)curl -s (\S+/v1/dev/seed) -H 'Authorization: (Bearer [^']+)' \\\s+-H 'Content-Type: application/json' -d '(\{.*?\})'`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no request for the sandbox:\n%s", text)
	}
	request, err := http.NewRequest(http.MethodPost, found[1], strings.NewReader(found[3]))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {found[2]}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	response.Body.Close()
	if sold := strings.Count(string(answer), `"buyer_id":"bid_fixed"`); err != nil || response.StatusCode != http.StatusCreated || sold < 50 {
		t.Errorf("%d, %d sold, %v: %.300s", response.StatusCode, sold, err, answer)
	}
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	d.read(t, "")
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, d.err.String())
	}
	to, err := url.Parse(found[1])
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.DialTimeout("tcp", to.Host, time.Second); err == nil {
		c.Close()
		t.Error("the sandbox still listens")
	}
	log, err := os.ReadFile(filepath.Join(d.dir, "exchange.log"))
	if err != nil || strings.Count(string(log), `"clean":true`) != 2 {
		t.Errorf("the tenants did not stop cleanly (%v):\n%s", err, log)
	}
}

func TestDemoInterrupted(t *testing.T) {
	d := startDemoProcess(t, "--leads", "1000", "--rate", "10")
	d.read(t, "  bid_wild")
	time.Sleep(2 * time.Second) // while it sends
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	d.read(t, "")
	if err := d.cmd.Wait(); err == nil || d.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(d.err.String(), "demo: interrupted") {
		t.Errorf("%v: %s", err, d.err.String())
	}
}

// TestDemoComparesRevenue: a buyer that owes another sum fails the demonstration.
func TestDemoComparesRevenue(t *testing.T) {
	rows := [][]string{{"buyer_id", "revenue"}, {"a", "12.5"}, {"b", "7"}, {"recorded", "3"}}
	account := &trial.Account{Buyers: []trial.BuyerAccount{{ID: "a", Owes: 12_500_000}, {ID: "b", Owes: 7_000_000}, {ID: "idle"}}}
	if l := compareRevenueWithBuyers(rows, account); !l.Held {
		t.Errorf("%+v", l)
	}
	account.Buyers[1].Owes++
	if l := compareRevenueWithBuyers(rows, account); l.Held || l.Got != "b (7, by its own count 7.000001)" {
		t.Errorf("%+v", l)
	}
}

func TestDemoFolder(t *testing.T) {
	existing := t.TempDir()
	if _, err := (&demoCmd{Dir: existing}).createFolder(); err == nil || !strings.Contains(err.Error(), "does not exist yet") {
		t.Errorf("existing folder: %v", err)
	}
	t.Chdir(existing)
	if dir, err := (&demoCmd{}).createFolder(); err != nil || !strings.HasPrefix(dir, filepath.Join(existing, "data", "demo-")) {
		t.Errorf("%s, %v", dir, err)
	}
	if err := errors.Join(os.RemoveAll("data"), os.WriteFile("data", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	if dir, err := (&demoCmd{}).createFolder(); err != nil || !strings.HasPrefix(dir, os.TempDir()) {
		t.Errorf("data is a file: %s, %v", dir, err)
	}
}

func TestDemoFlags(t *testing.T) {
	for _, c := range []demoCmd{{Leads: 0, Rate: 1}, {Leads: 2_000_000, Rate: 1}, {Leads: 1, Rate: 0}, {Leads: 1, Rate: maxDemoRate + 1}} {
		if err := c.Run(); err == nil || !strings.Contains(err.Error(), "--leads") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
