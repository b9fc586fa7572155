package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shown is a demonstration in a process of its own.
type shown struct {
	cmd *exec.Cmd
	dir string
	out *bufio.Scanner
	err *strings.Builder
}

func demonstrate(t *testing.T, args ...string) *shown {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &shown{dir: filepath.Join(t.TempDir(), "shown"), err: new(strings.Builder)}
	s.cmd = exec.Command(program, append([]string{"demo", "--dir", s.dir}, args...)...)
	s.cmd.Env = append(os.Environ(), asProgram+"=1")
	s.cmd.Stderr = s.err
	pipe, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewScanner(pipe)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	return s
}

// until reads on to a line that begins with the text, or to the end.
func (s *shown) until(t *testing.T, begins string) (text string) {
	t.Helper()
	for s.out.Scan() {
		text += s.out.Text() + "\n"
		if begins != "" && strings.HasPrefix(s.out.Text(), begins) {
			return text
		}
	}
	if begins != "" {
		t.Fatalf("no line begins with %q:\n%s\n%s", begins, text, s.err)
	}
	return text
}

// exit is the exit code; -1 for a process that a signal ended.
func (s *shown) exit(t *testing.T) int {
	t.Helper()
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return s.cmd.ProcessState.ExitCode()
}

// addresses are those of all the children.
func (s *shown) addresses(t *testing.T) (public string, all []string) {
	t.Helper()
	for _, b := range demoPosted() {
		text, err := os.ReadFile(filepath.Join(s.dir, b.ID+".log"))
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Index(string(text), "http://")
		u, err := url.Parse(strings.TrimSpace(strings.SplitN(string(text)[at:], "\n", 2)[0]))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u.Host)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "exchange.log"))
	if err != nil {
		t.Fatal(err)
	}
	tenants := 0
	for l := range strings.Lines(string(text)) {
		var entry struct{ Msg, Tenant, Listen, Admin string }
		if json.Unmarshal([]byte(l), &entry) != nil || entry.Msg != "serving" {
			continue
		}
		tenants++
		all = append(all, entry.Listen, entry.Admin)
		if entry.Tenant == "demo" {
			public = entry.Listen
		}
	}
	if tenants != 2 || public == "" {
		t.Fatalf("the exchange never served, or with %d tenants:\n%s", tenants, text)
	}
	return public, all
}

func open(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// gone waits until nobody listens any more.
func gone(t *testing.T, addresses []string) {
	t.Helper()
	for limit := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := 0
		for _, a := range addresses {
			if open(a) {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%d of %d children still listen", left, len(addresses))
		}
	}
}

func TestDemoOnce(t *testing.T) {
	s := demonstrate(t, "--once", "--leads", "400", "--rate", "400")
	text := s.until(t, "")
	if code := s.exit(t); code != 0 {
		t.Fatalf("exit %d:\n%s%s", code, text, s.err)
	}
	for _, want := range []string{"  cmp_auto ", "  cmp_solar", "  cmp_life ", "  cmp_bids ", "400 sent = ", "40 offered = ", "by ingest, ", "by ping and post, ", "lead.unmatched", " heard by webhook of ", "no lead was sold twice", "  margin ", "duplicate", "suppressed", "invalid_payload", "p99 "} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing is said of %q", want)
		}
	}
	if n := strings.Count(text, agrees); n != 30 || strings.Contains(text, differs) {
		t.Errorf("%d times %s, want 30:\n%s", n, agrees, text)
	}
	for l := range strings.Lines(text) {
		if len(l) > 81 && !strings.Contains(l, s.dir) {
			t.Errorf("%d columns: %s", len(l)-1, l)
		}
	}
	if strings.ContainsRune(text, '\x1b') {
		t.Error("colours, and nobody looks")
	}
	_, all := s.addresses(t)
	gone(t, all)
}

// TestDemoStays: it stays up after the figures, takes the lead of its own curl
// line, and ends with all its children on Ctrl-C.
func TestDemoStays(t *testing.T) {
	s := demonstrate(t, "--leads", "50", "--rate", "500")
	text := s.until(t, "Ctrl-C")
	public, all := s.addresses(t)
	for _, a := range all {
		if !open(a) {
			t.Errorf("%s does not listen", a)
		}
	}
	if !strings.Contains(text, "curl -s http://"+public+"/api/v1/ingest") {
		t.Errorf("no line to try:\n%s", text)
	}
	seeds(t, text)
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.until(t, "")
	if code := s.exit(t); code != 0 {
		t.Errorf("exit %d: %s", code, s.err)
	}
	gone(t, all)
	log, err := os.ReadFile(filepath.Join(s.dir, "exchange.log"))
	if err != nil || !strings.Contains(string(log), `"clean":true`) {
		t.Errorf("the exchange did not end in order (%v):\n%s", err, log)
	}
}

// seeds does as the line for the sandbox says: a hundred people are made up there and
// sold.
func seeds(t *testing.T, text string) {
	t.Helper()
	found := regexp.MustCompile(`(?s)curl -s (\S+/v1/dev/seed) -H 'Authorization: (Bearer [^']+)' \\\s+-H 'Content-Type: application/json' -d '(\{.*?\})'`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no line for the sandbox:\n%s", text)
	}
	for limit := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		req, err := http.NewRequest(http.MethodPost, found[1], strings.NewReader(found[3]))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {found[2]}, "Content-Type": {"application/json"}}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode == http.StatusTooManyRequests && time.Now().Before(limit) {
			continue
		}
		if sold := strings.Count(string(answer), `"buyer_id":"bid_fixed"`); err != nil || res.StatusCode != http.StatusCreated || sold < 50 {
			t.Errorf("%d, %d sold, %v: %.300s", res.StatusCode, sold, err, answer)
		}
		return
	}
}

func TestDemoInterrupted(t *testing.T) {
	s := demonstrate(t, "--leads", "1000", "--rate", "10")
	s.until(t, "sending")
	_, all := s.addresses(t)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.until(t, "")
	if code := s.exit(t); code != 1 || !strings.Contains(s.err.String(), "interrupted") {
		t.Errorf("exit %d: %s", code, s.err)
	}
	gone(t, all)
}

// TestDemoKilled: not even a kill leaves children behind.
func TestDemoKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends children whose parent is gone")
	}
	s := demonstrate(t, "--leads", "50", "--rate", "500")
	s.until(t, "Ctrl-C")
	_, all := s.addresses(t)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gone(t, all)
}

func TestDemoFolder(t *testing.T) {
	there := t.TempDir()
	if _, err := (&demoCmd{Dir: there}).folder(); err == nil {
		t.Error("a folder that is there was taken")
	}
	dir, err := (&demoCmd{Dir: filepath.Join(there, "a", "b")}).folder()
	if err != nil || dir != filepath.Join(there, "a", "b") {
		t.Errorf("%s, %v", dir, err)
	}
	t.Chdir(there)
	if dir, err = (&demoCmd{}).folder(); err != nil || !strings.HasPrefix(dir, filepath.Join(there, "data", "demo-")) {
		t.Errorf("%s, %v", dir, err)
	}
	if err := os.RemoveAll(filepath.Join(there, "data")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(there, "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	if dir, err = (&demoCmd{}).folder(); err != nil || !strings.HasPrefix(dir, os.TempDir()) {
		t.Errorf("%s, %v", dir, err)
	}
}

func TestDemoMistakes(t *testing.T) {
	for _, c := range []demoCmd{{Leads: 0, Rate: 1}, {Leads: 2_000_000, Rate: 1}, {Leads: 1, Rate: 0}, {Leads: 1, Rate: demoIngestRate}} {
		if err := c.Run(); err == nil || !strings.Contains(err.Error(), "--leads") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
