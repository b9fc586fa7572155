package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pingpost/internal/must"
)

const (
	adminPassword = "password-of-a-canary"
	apiKey        = "key-of-a-canary"
	personName    = "Quetzalcott"
)

const testConfig = `data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: "${ADMIN_PASSWORD}"}
suppliers: [{id: sup, api_key: "${SUP_API_KEY}", ingest_rate: 1000000}]
buyers: [{id: buy}]
campaigns:
  - id: cmp
    method: waterfall
    duplicates: {window: 0s}
    buyers: [{buyer: buy, price: 12.05}]
`

func writeConfig(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "exchange.yaml")
	writeFile(t, path, text)
	return path
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
}

// programCommand returns a command that runs the test binary as the program.
func programCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	path := must.Value(os.Executable())(t)
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "ADMIN_PASSWORD="+adminPassword, "PINGPOST_ADMIN_PASSWORD="+adminPassword, "SUP_API_KEY="+apiKey)
	return cmd
}

// commandResult is the output and the exit code of a program.
type commandResult struct {
	out, err string
	code     int
}

func run(t testing.TB, args ...string) commandResult {
	t.Helper()
	return runCommand(t, programCommand(t, args...))
}

// runCommand runs a command to its end. Its output must contain no secret.
func runCommand(t testing.TB, cmd *exec.Cmd) commandResult {
	t.Helper()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	s := commandResult{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	s.checkNoSecrets(t)
	return s
}

// mustRun runs a command that must succeed, and returns its standard output.
func mustRun(t testing.TB, args ...string) string {
	t.Helper()
	s := run(t, args...)
	if s.code != 0 {
		t.Fatalf("%v: exit %d: %s", args, s.code, s.err)
	}
	return s.out
}

// mustPrint runs a command that must succeed, and print a text that contains want.
func mustPrint(t testing.TB, want string, args ...string) {
	t.Helper()
	if out := mustRun(t, args...); !strings.Contains(out, want) {
		t.Errorf("%v: printed\n%s\nwant\n%s", args, out, want)
	}
}

// mustFail runs a command that must fail with a message that contains wantError, without other
// output. For wrong flags, kong prints the usage and exits with 80.
func mustFail(t testing.TB, wantError string, args ...string) {
	t.Helper()
	if s := run(t, args...); (s.code != 1 || s.out != "") && s.code != 80 || !strings.Contains(s.err, wantError) {
		t.Errorf("%v: exit %d, %q, %q; want %q", args, s.code, s.out, s.err, wantError)
	}
}

func (s *commandResult) checkNoSecrets(t testing.TB) {
	t.Helper()
	for _, secret := range []string{"canary", personName} {
		if strings.Contains(s.out+s.err, secret) {
			t.Errorf("printed %q:\n%s\n%s", secret, s.out, s.err)
		}
	}
}

// testProcess is a running program.
type testProcess struct {
	*exec.Cmd
	t      testing.TB
	mu     sync.Mutex // guards buffer
	buffer bytes.Buffer
	exited chan error
}

func (s *testProcess) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer.Write(p)
}

func (s *testProcess) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer.String()
}

func startServe(t testing.TB, args ...string) *testProcess {
	t.Helper()
	return startProgram(t, append([]string{"serve"}, args...)...)
}

// startProgram starts the program and collects its output.
func startProgram(t testing.TB, args ...string) *testProcess {
	t.Helper()
	s := &testProcess{Cmd: programCommand(t, args...), t: t, exited: make(chan error, 1)}
	s.Stdout, s.Stderr = s, s
	must.Succeed(t, s.Start())
	go func() { s.exited <- s.Wait() }()
	t.Cleanup(func() {
		_ = s.Process.Kill()
		log := commandResult{err: s.output()}
		log.checkNoSecrets(t)
	})
	return s
}

// waitForOutput waits for output that matches the pattern, and returns the match.
func (s *testProcess) waitForOutput(pattern string) []string {
	s.t.Helper()
	compiled := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if found := compiled.FindStringSubmatch(s.output()); found != nil {
			return found
		}
	}
	s.t.Fatalf("no output matches %s:\n%s", pattern, s.output())
	return nil
}

// addresses waits until the tenant serves and returns its addresses.
func (s *testProcess) addresses(tenant string) (public, admin string) {
	s.t.Helper()
	found := s.waitForOutput(`msg=serving tenant=` + tenant + ` listen=(\S+) admin=(\S+)`)
	return "http://" + found[1], "http://" + found[2]
}

func (s *testProcess) sendSignal(sig syscall.Signal) {
	s.t.Helper()
	must.Succeed(s.t, s.Process.Signal(sig))
}

// stop stops the program, which must end without an error.
func (s *testProcess) stop() {
	s.t.Helper()
	s.sendSignal(syscall.SIGTERM)
	if code := s.waitForExit(); code != 0 {
		s.t.Errorf("exit %d:\n%s", code, s.output())
	}
}

// waitForExit waits for the program's end and returns its exit code.
func (s *testProcess) waitForExit() int {
	s.t.Helper()
	select {
	case err := <-s.exited:
		s.exited <- err
		return s.ProcessState.ExitCode()
	case <-time.After(waitTimeout):
		s.t.Fatalf("the program does not end:\n%s", s.output())
		return -1
	}
}

const testLead = `{"flo_campaign_id":"cmp","flo_supplier_id":"sup","first_name":"Ann","last_name":"` + personName + `","phone":"2125550123","email":"ann@example.com"}`

func ingestLead(t testing.TB, public string) (status int, body string) {
	t.Helper()
	return request(t, http.MethodPost, public+"/api/v1/ingest", testLead, "X-Api-Key", apiKey, "Connection", "close")
}

// request sends JSON, unless the headers name another content type, and returns the answer.
// Headers come in pairs.
func request(t testing.TB, method, url, body string, headers ...string) (status int, text string) {
	t.Helper()
	status, text, err := tryRequest(method, url, body, headers...)
	must.Succeed(t, err)
	return status, text
}

// tryRequest is like request, for an exchange that may have stopped.
func tryRequest(method, url, body string, headers ...string) (status int, text string, err error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(read), err
}

// basic returns the value of an Authorization header.
func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

func mustSell(t testing.TB, public, want string) {
	t.Helper()
	if status, body := ingestLead(t, public); status != 201 || !strings.Contains(body, want) {
		t.Errorf("%d %s, want 201 with %s", status, body, want)
	}
}

// TestServeReloadsAndRestarts: a process starts, reloads, stops and starts again.
func TestServeReloadsAndRestarts(t *testing.T) {
	t.Parallel()
	config := testConfig + "provisioning: enforce\n"
	path := writeConfig(t, config)
	s := startServe(t, "-c", path)
	public, admin := s.addresses("production")
	s.waitForOutput(`msg=dashboard tenant=production url=` + admin + `/ sign_in="with any user name and the password of admin\.password"`)
	mustSell(t, public, `"amount":12.05,`)
	writeFile(t, path, strings.Replace(config, "12.05", "20", 1))
	s.sendSignal(syscall.SIGHUP)
	s.waitForOutput(`msg="configuration reloaded"`)
	mustSell(t, public, `"amount":20,`)
	writeFile(t, path, strings.Replace(config, "12.05", "dear", 1))
	s.sendSignal(syscall.SIGHUP)
	s.waitForOutput(`stays in force".*exchange\.yaml:10:`)
	mustSell(t, public, `"amount":20,`)
	s.stop()
	if !strings.Contains(s.output(), "msg=stopped") || !strings.Contains(s.output(), "clean=true") {
		t.Errorf("the log does not report the stop:\n%s", s.output())
	}
	writeFile(t, path, config)
	s = startServe(t, "-c", path, "--log-format", "json")
	s.waitForOutput(`"msg":"serving".*"leads":3`)
	s.sendSignal(syscall.SIGINT)
	if code := s.waitForExit(); code != 0 {
		t.Errorf("exit %d after SIGINT", code)
	}
}

func TestServeTwoTenants(t *testing.T) {
	t.Parallel()
	first, second := writeConfig(t, "tenant: one\n"+testConfig), writeConfig(t, "tenant: two\n"+testConfig)
	s := startServe(t, "-c", first, "-c", second)
	for _, tenant := range []string{"one", "two"} {
		public, _ := s.addresses(tenant)
		mustSell(t, public, "ACCEPTED")
	}
	s.sendSignal(syscall.SIGTERM)
	if code := s.waitForExit(); code != 0 || strings.Count(s.output(), "clean=true") != 2 {
		t.Errorf("exit %d:\n%s", code, s.output())
	}
}

// TestServeRejectsInvalidStart: a start that fails prints the reason and exits with 1. It
// stops the tenants that had started.
func TestServeRejectsInvalidStart(t *testing.T) {
	t.Parallel()
	good := writeConfig(t, testConfig)
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"no file":          {[]string{"-c", good + ".none"}, "exchange.yaml.none"},
		"a mistake":        {[]string{"-c", writeConfig(t, strings.Replace(testConfig, "12.05", "dear", 1))}, "exchange.yaml:10:"},
		"no variable":      {[]string{"-c", writeConfig(t, strings.Replace(testConfig, "SUP_API_KEY", "NOBODYS_KEY", 1))}, "NOBODYS_KEY"},
		"a second mistake": {[]string{"-c", good, "-c", writeConfig(t, "campaigns: 7\n")}, "clean=true"},
		"the same twice":   {[]string{"-c", good, "-c", good}, "another process"},
	} {
		t.Run(name, func(t *testing.T) { mustFail(t, row.want, append([]string{"serve"}, row.args...)...) })
	}
	mustFail(t, "--config", "serve")
	s := startServe(t, "-c", good)
	s.addresses("production")
	mustFail(t, "another process", "serve", "-c", good)
}
