//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// machine simulates the machine on which the runbook's commands run. It has folders
// in place of those in the runbook, ports in place of its addresses, and a service
// manager for one service.
type machine struct {
	t           testing.TB
	dir         string
	env         []string
	paths       *strings.Replacer
	answers     map[string][]byte // idempotency key to the answer
	supplierKey string
	publicURL   string

	restoreTime string // replaces the time in the runbook; empty: no replacement
}

const machineConfig = `data_dir: /var/lib/pingpost/data
listen: 127.0.0.1:8080
admin: {listen: 127.0.0.1:9090, password: "${PINGPOST_ADMIN_PASSWORD}"}
trusted_networks: [127.0.0.0/8]
suppliers:
  - {id: sup_acme, api_key: "${ACME_API_KEY}", webhook: {url: "http://127.0.0.1:1/hooks", secret: "${ACME_WEBHOOK_SECRET}"}}
buyers: [{id: buy_blue}]
campaigns:
  - {id: cmp_auto, method: waterfall, duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 12.05}]}
`

const machineEnv = `PINGPOST_ADMIN_PASSWORD=first-password-of-a-canary
ACME_API_KEY=` + apiKey + `
ACME_WEBHOOK_SECRET=whsec_Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5
`

// systemctlScript implements the part of systemctl that the runbook uses. A start waits until the exchange
// serves, as Type=notify does. A zombie process does not count as running.
const systemctlScript = `#!/usr/bin/env bash
set -eu
cd "$MACHINE"
runs() { [ -f pid ] && grep -q '^State:[[:space:]]*[RSDTt]' "/proc/$(cat pid)/status" 2>/dev/null; }
start() {
	runs && return
	set -a; . etc/pingpost/env; set +a
	begin=$(($(cat journal 2>/dev/null | wc -c) + 1))
	setsid pingpost serve --config etc/pingpost/pingpost.yaml ${SERVE_FLAGS-} </dev/null >>journal 2>&1 &
	echo $! >pid
	for _ in $(seq 600); do
		runs || { echo 'pingpost has ended; see its journal' >&2; return 1; }
		tail -c "+$begin" journal | grep -q ' msg=serving ' && return
		sleep 0.05
	done
	echo 'pingpost is not ready' >&2; return 1
}
stop() {
	runs || return 0
	kill -TERM "$(cat pid)"
	for _ in $(seq 1200); do runs || return 0; sleep 0.05; done
	echo 'pingpost does not stop' >&2; return 1
}
case "$1 $2" in
'start pingpost') start ;;
'stop pingpost') stop ;;
'restart pingpost') stop; start ;;
'reload pingpost') kill -HUP "$(cat pid)" ;;
*) echo "systemctl: not known here: $*" >&2; exit 1 ;;
esac
`

func newMachine(t testing.TB) *machine {
	t.Helper()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the runbook's commands need %s: %v", tool, err)
		}
	}
	m := &machine{t: t, dir: t.TempDir(), answers: map[string][]byte{}, supplierKey: apiKey}
	public, admin := freeAddress(t), freeAddress(t)
	m.publicURL = "http://" + public
	m.paths = strings.NewReplacer(
		"/var/lib/pingpost", m.path("lib"), "/etc/pingpost", m.path("etc/pingpost"), "/mnt/", m.path("mnt")+"/", "/root/", m.path("root")+"/",
		"/usr/local/bin", m.path("bin"), "127.0.0.1:8080", public, "127.0.0.1:9090", admin)
	for _, folder := range []string{"lib", "etc/pingpost", "mnt", "root", "bin"} {
		must.Succeed(t, os.MkdirAll(m.path(folder), 0o700))
	}
	writeFile(t, m.path("etc/pingpost/pingpost.yaml"), m.localize(machineConfig))
	writeFile(t, m.path("etc/pingpost/env"), machineEnv)
	program := must.Value(os.Executable())(t)
	m.script("systemctl", systemctlScript)
	m.script("pingpost", "#!/bin/sh\nexec env "+asProgram+"=1 '"+program+"' \"$@\"\n")
	m.env = append(os.Environ(), "PATH="+m.path("bin")+":"+os.Getenv("PATH"), "MACHINE="+m.dir, "ADMIN=http://"+admin,
		"A=http://"+admin, "U=op:first-password-of-a-canary", "PINGPOST_ADMIN_PASSWORD=first-password-of-a-canary")
	t.Cleanup(func() { m.systemctl("stop") })
	return m
}

// freeAddress returns an address without a listener.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	return listener.Addr().String()
}

func (m *machine) path(name string) string { return filepath.Join(m.dir, name) }

// localize returns a text of the runbook with this machine's paths and addresses.
func (m *machine) localize(text string) string {
	if m.restoreTime != "" {
		text = strings.ReplaceAll(text, "2026-11-20T17:00:00Z", m.restoreTime)
	}
	return m.paths.Replace(text)
}

func (m *machine) data() string { return m.path("lib/data") }

func (m *machine) script(name, text string) {
	m.t.Helper()
	must.Succeed(m.t, os.WriteFile(m.path("bin/"+name), []byte(text), 0o700))
}

// run runs a command on the machine and returns its output.
func (m *machine) run(name string, args ...string) (out string, err error) {
	cmd := exec.Command(name, args...)
	if name == "systemctl" || name == "pingpost" {
		cmd.Path, cmd.Err = m.path("bin/"+name), nil
	}
	cmd.Env, cmd.Dir = m.env, m.dir
	text, err := cmd.CombinedOutput()
	return string(text), err
}

func (m *machine) systemctl(verb string) {
	m.t.Helper()
	if out, err := m.run("systemctl", verb, "pingpost"); err != nil {
		m.t.Fatalf("systemctl %s: %v: %s\n%s", verb, err, out, m.journal())
	}
}

// kill ends the service without a shutdown, like a power cut.
func (m *machine) kill() {
	m.t.Helper()
	if out, err := m.run("bash", "-c", `kill -KILL "$(cat pid)"; while grep -q '^State:[[:space:]]*[RSDTt]' "/proc/$(cat pid)/status" 2>/dev/null; do sleep 0.01; done`); err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
}

func (m *machine) journal() string {
	text, _ := os.ReadFile(m.path("journal"))
	return string(text)
}

// send sends a lead under an idempotency key. It retries at the rate limit, whose bucket
// is empty after a start.
func (m *machine) send(key string) (status int, body []byte) {
	m.t.Helper()
	waitFor(m.t, func() bool {
		status, body = m.sendOnce(key)
		return status != http.StatusTooManyRequests
	})
	return status, body
}

func (m *machine) sendOnce(key string) (status int, body []byte) {
	m.t.Helper()
	lead := strings.NewReplacer(`"cmp"`, `"cmp_auto"`, `"sup"`, `"sup_acme"`).Replace(testLead)
	status, text, err := tryRequest(http.MethodPost, m.publicURL+"/api/v1/ingest", lead, "X-Api-Key", m.supplierKey, "Idempotency-Key", key, "Connection", "close")
	if err != nil {
		m.t.Fatalf("%v\n%s", err, m.journal())
	}
	return status, []byte(text)
}

// sell sells one more lead and records the answer.
func (m *machine) sell(want string) (key string) {
	m.t.Helper()
	key = fmt.Sprintf("lead-%d", len(m.answers)+1)
	status, body := m.send(key)
	if status != http.StatusCreated || !bytes.Contains(body, []byte(want)) {
		m.t.Fatalf("%d %s, want 201 with %s", status, body, want)
	}
	m.answers[key] = body
	return key
}

// hasLead reports whether the exchange still has an acknowledged lead: the same key gets
// the same bytes as the answer.
func (m *machine) hasLead(key string) bool {
	m.t.Helper()
	status, body := m.send(key)
	return status == http.StatusCreated && bytes.Equal(body, m.answers[key])
}

// mustHaveAllLeads checks that no acknowledged lead is lost and that a new one is sold.
func (m *machine) mustHaveAllLeads() {
	m.t.Helper()
	for key := range m.answers {
		if !m.hasLead(key) {
			m.t.Errorf("acknowledged lead %s is lost", key)
		}
	}
	m.sell("ACCEPTED")
}
