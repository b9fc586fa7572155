package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

const (
	unitFile = "pingpost.service"
	// maxExposure is the highest allowed exposure level of systemd-analyze, times ten.
	maxExposure = "13"
)

// writeUnit writes the unit with the path of the program that this test has built.
func writeUnit(t *testing.T) (path, text string) {
	t.Helper()
	whole := must.Value(os.ReadFile(unitFile))(t)
	text = strings.ReplaceAll(string(whole), "/usr/local/bin/pingpost", filepath.Join(buildStage(t), "image", "pingpost"))
	path = filepath.Join(t.TempDir(), unitFile)
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path, text
}

// unitValues returns the values of a key of the unit, in order.
func unitValues(text, key string) (values []string) {
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found && name == key {
			values = append(values, value)
		}
	}
	return values
}

// TestServiceIsHardened: systemd accepts the unit, and its exposure is at most maxExposure.
func TestServiceIsHardened(t *testing.T) {
	requireTool(t, "systemd-analyze", "systemd")
	path, _ := writeUnit(t)
	if out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold="+maxExposure, path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Overall exposure level") {
		t.Errorf("%v\n%s", err, out)
	}
}

// allowedCalls returns the system calls that the unit allows.
func allowedCalls(t *testing.T, text string) map[string]bool {
	t.Helper()
	calls := map[string]bool{}
	var expand func(name string, allow bool)
	expand = func(name string, allow bool) {
		if !strings.HasPrefix(name, "@") {
			calls[name] = allow
			return
		}
		out, err := exec.Command("systemd-analyze", "--no-pager", "syscall-filter", name).Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for line := range strings.Lines(string(out)) {
			if call := strings.TrimSpace(line); call != "" && call != name && !strings.HasPrefix(call, "#") {
				expand(call, allow)
			}
		}
	}
	for _, filter := range unitValues(text, "SystemCallFilter") {
		list, deny := strings.CutPrefix(filter, "~")
		for name := range strings.FieldsSeq(list) {
			expand(name, !deny)
		}
	}
	expand("@default", true) // always allowed
	if len(calls) < 100 || calls["reboot"] || !calls["fsync"] {
		t.Fatalf("the unit allows %d calls", len(calls))
	}
	return calls
}

var (
	tracedCall   = regexp.MustCompile(`(?m)^\d+ +([a-z_0-9]+)\(`)
	tracedSocket = regexp.MustCompile(`socket\((AF_\w+)`)
	tracedMemory = regexp.MustCompile(`PROT_[A-Z|_]*WRITE[A-Z|_]*PROT_EXEC`)
)

// TestServiceAllowsSystemCalls: the unit allows all system calls of the program while it starts,
// sells, reloads, backs up and stops.
func TestServiceAllowsSystemCalls(t *testing.T) {
	requireTool(t, "systemd-analyze", "systemd")
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skipf("strace is not installed, which records the program's calls: %v", err)
	}
	_, text := writeUnit(t)
	allowed, families := allowedCalls(t, text), strings.Fields(strings.Join(unitValues(text, "RestrictAddressFamilies"), " "))
	trace := traceProgram(t)
	if os.Geteuid() == 0 {
		allowed["fchown"] = true // SQLite calls it only as root, and the service is not root
	}
	for _, call := range tracedCall.FindAllStringSubmatch(trace, -1) {
		if allow, known := allowed[call[1]]; !allow {
			t.Errorf("the program calls %s, but SystemCallFilter refuses it (named there: %v)", call[1], known)
			allowed[call[1]] = true // report it once
		}
	}
	for _, socket := range tracedSocket.FindAllStringSubmatch(trace, -1) {
		if !slices.Contains(families, socket[1]) {
			t.Errorf("the program opens a socket of %s, but RestrictAddressFamilies refuses it", socket[1])
		}
	}
	if found := tracedMemory.FindString(trace); found != "" {
		t.Errorf("MemoryDenyWriteExecute refuses %s", found)
	}
	for _, call := range []string{"fsync", "accept4", "connect", "mmap"} {
		if !strings.Contains(trace, " "+call+"(") {
			t.Errorf("the trace has no %s, so it is not complete", call)
		}
	}
}

// traceProgram records the system calls of the program from start to stop.
func traceProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	public, admin := freeAddress(t), freeAddress(t)
	config := strings.Replace(fmt.Sprintf(serviceConfig, public, admin), "/var/lib/pingpost/data", filepath.Join(dir, "data"), 1)
	config = strings.Replace(config, "buyers: [", `buyers: [{id: buy_gone, endpoint: "http://`+dialtest.UnusedAddress(t)+`"}, `, 1)
	config = strings.Replace(config, "{buyer: buy_rest", "{buyer: buy_gone, price: 6}, {buyer: buy_rest", 1) + "trusted_networks: [127.0.0.0/8]\n"
	path, record := filepath.Join(dir, "exchange.yaml"), filepath.Join(dir, "trace")
	must.Succeed(t, os.WriteFile(path, []byte(config), 0o600))
	binary := filepath.Join(buildStage(t), "image", "pingpost")
	cmd := exec.Command("strace", "-f", "-o", record, binary, "serve", "-c", path, "--backup-to", filepath.Join(dir, "backup"), "--backup-unencrypted")
	cmd.Env = append(os.Environ(), "KEY="+apiKey)
	var output strings.Builder
	cmd.Stderr = &output
	must.Succeed(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if out, err := exec.Command(binary, "health", "--wait", "2m", "--admin", "http://"+admin).CombinedOutput(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if strings.Contains(output.String(), "ptrace") {
			t.Skipf("this machine does not permit ptrace: %s", output.String())
		}
		t.Fatalf("%v: %s\n%s", err, out, output.String())
	}
	for range 5 {
		must.Succeed(t, send("http://"+public, "cmp_fixed"))
		time.Sleep(50 * time.Millisecond) // the rate limiter is empty at a start
	}
	pid := childOf(t, cmd.Process.Pid)
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		must.Succeed(t, syscall.Kill(pid, signal))
		time.Sleep(100 * time.Millisecond)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, output.String())
	}
	return string(must.Value(os.ReadFile(record))(t))
}

// childOf returns the only child of a process.
func childOf(t *testing.T, of int) (pid int) {
	t.Helper()
	text := must.Value(os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", of, of)))(t)
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return pid
}
