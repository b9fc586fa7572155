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
	person        = "Quetzalcott"
)

const served = `data_dir: data
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

func configuration(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "exchange.yaml")
	rewrite(t, path, text)
	return path
}

func rewrite(t testing.TB, path, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
}

// program is a command line to be run as the program.
func program(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	path := must.Value(os.Executable())(t)
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "ADMIN_PASSWORD="+adminPassword, "PINGPOST_ADMIN_PASSWORD="+adminPassword, "SUP_API_KEY="+apiKey)
	return cmd
}

// said is what a program printed and how it ended.
type said struct {
	out, err string
	code     int
}

func run(t testing.TB, args ...string) said {
	t.Helper()
	return finished(t, program(t, args...))
}

// finished runs a command to its end. Its output must contain no secret.
func finished(t testing.TB, cmd *exec.Cmd) said {
	t.Helper()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	s := said{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	s.isDiscreet(t)
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

func (s *said) isDiscreet(t testing.TB) {
	t.Helper()
	for _, secret := range []string{"canary", person} {
		if strings.Contains(s.out+s.err, secret) {
			t.Errorf("printed %q:\n%s\n%s", secret, s.out, s.err)
		}
	}
}

// service is a program that serves.
type service struct {
	*exec.Cmd
	t     testing.TB
	mu    sync.Mutex // guards lines
	lines bytes.Buffer
	ended chan error
}

func (s *service) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines.Write(p)
}

func (s *service) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines.String()
}

func serve(t testing.TB, args ...string) *service {
	t.Helper()
	return start(t, append([]string{"serve"}, args...)...)
}

// start starts the program and collects its output.
func start(t testing.TB, args ...string) *service {
	t.Helper()
	s := &service{Cmd: program(t, args...), t: t, ended: make(chan error, 1)}
	s.Stdout, s.Stderr = s, s
	must.Succeed(t, s.Start())
	go func() { s.ended <- s.Wait() }()
	t.Cleanup(func() {
		_ = s.Process.Kill()
		log := said{err: s.said()}
		log.isDiscreet(t)
	})
	return s
}

// hears waits until the program has logged what the pattern says.
func (s *service) hears(pattern string) []string {
	s.t.Helper()
	compiled := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(longest); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if found := compiled.FindStringSubmatch(s.said()); found != nil {
			return found
		}
	}
	s.t.Fatalf("never said %s:\n%s", pattern, s.said())
	return nil
}

// addresses are those of the tenant, once it serves.
func (s *service) addresses(tenant string) (public, admin string) {
	s.t.Helper()
	found := s.hears(`msg=serving tenant=` + tenant + ` listen=(\S+) admin=(\S+)`)
	return "http://" + found[1], "http://" + found[2]
}

func (s *service) signal(what syscall.Signal) {
	s.t.Helper()
	must.Succeed(s.t, s.Process.Signal(what))
}

// stops asks the program to end, and checks that it ends without an error.
func (s *service) stops() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	if code := s.ends(); code != 0 {
		s.t.Errorf("exit %d:\n%s", code, s.said())
	}
}

// ends waits for the program's end and returns its code.
func (s *service) ends() int {
	s.t.Helper()
	select {
	case err := <-s.ended:
		s.ended <- err
		return s.ProcessState.ExitCode()
	case <-time.After(longest):
		s.t.Fatalf("it does not end:\n%s", s.said())
		return -1
	}
}

const soldLead = `{"flo_campaign_id":"cmp","flo_supplier_id":"sup","first_name":"Ann","last_name":"` + person + `","phone":"2125550123","email":"ann@example.com"}`

func sell(t testing.TB, public string) (status int, body string) {
	t.Helper()
	return request(t, http.MethodPost, public+"/api/v1/ingest", soldLead, "X-Api-Key", apiKey, "Connection", "close")
}

// request sends JSON, unless the headers name another content type, and returns the answer.
// Headers come in pairs.
func request(t testing.TB, method, url, body string, headers ...string) (status int, text string) {
	t.Helper()
	status, text, err := tryRequest(method, url, body, headers...)
	must.Succeed(t, err)
	return status, text
}

// tryRequest is request for an exchange that may be gone.
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
	if status, body := sell(t, public); status != 201 || !strings.Contains(body, want) {
		t.Errorf("%d %s, want 201 with %s", status, body, want)
	}
}

// TestServe: one process from its start over reloads to its end, and again.
func TestServe(t *testing.T) {
	path := configuration(t, served)
	s := serve(t, "-c", path)
	public, _ := s.addresses("production")
	mustSell(t, public, `"amount":12.05,`)
	rewrite(t, path, strings.Replace(served, "12.05", "20", 1))
	s.signal(syscall.SIGHUP)
	s.hears(`msg="configuration reloaded"`)
	mustSell(t, public, `"amount":20,`)
	rewrite(t, path, strings.Replace(served, "12.05", "dear", 1))
	s.signal(syscall.SIGHUP)
	s.hears(`stays in force".*exchange\.yaml:10:`)
	mustSell(t, public, `"amount":20,`)
	s.stops()
	if !strings.Contains(s.said(), "msg=stopped") || !strings.Contains(s.said(), "clean=true") {
		t.Errorf("no word of the end:\n%s", s.said())
	}
	rewrite(t, path, served)
	s = serve(t, "-c", path, "--log-format", "json")
	s.hears(`"msg":"serving".*"leads":3`)
	s.signal(syscall.SIGINT)
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d after SIGINT", code)
	}
}

func TestServeTwoTenants(t *testing.T) {
	first, second := configuration(t, "tenant: one\n"+served), configuration(t, "tenant: two\n"+served)
	s := serve(t, "-c", first, "-c", second)
	for _, tenant := range []string{"one", "two"} {
		public, _ := s.addresses(tenant)
		mustSell(t, public, "ACCEPTED")
	}
	s.signal(syscall.SIGTERM)
	if code := s.ends(); code != 0 || strings.Count(s.said(), "clean=true") != 2 {
		t.Errorf("exit %d:\n%s", code, s.said())
	}
}

// TestServeRefuses: what keeps a program from serving is told, and ends it with
// 1; tenants that had begun are stopped in order.
func TestServeRefuses(t *testing.T) {
	good := configuration(t, served)
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"no file":          {[]string{"-c", good + ".none"}, "exchange.yaml.none"},
		"a mistake":        {[]string{"-c", configuration(t, strings.Replace(served, "12.05", "dear", 1))}, "exchange.yaml:10:"},
		"no variable":      {[]string{"-c", configuration(t, strings.Replace(served, "SUP_API_KEY", "NOBODYS_KEY", 1))}, "NOBODYS_KEY"},
		"a second mistake": {[]string{"-c", good, "-c", configuration(t, "campaigns: 7\n")}, "clean=true"},
		"the same twice":   {[]string{"-c", good, "-c", good}, "another process"},
	} {
		t.Run(name, func(t *testing.T) { mustFail(t, row.want, append([]string{"serve"}, row.args...)...) })
	}
	mustFail(t, "--config", "serve")
	s := serve(t, "-c", good)
	s.addresses("production")
	mustFail(t, "another process", "serve", "-c", good)
}
