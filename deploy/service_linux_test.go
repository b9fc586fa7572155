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
)

const (
	unitFile = "pingpost.service"
	// mostExposed is in tenths of what systemd-analyze counts, from 0 (sealed) to 100.
	mostExposed = "13"
)

// unit is the service with the program where this test has built it.
func unit(t *testing.T) (path, text string) {
	t.Helper()
	whole, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(string(whole), "/usr/local/bin/pingpost", filepath.Join(built(t), "image", "pingpost"))
	path = filepath.Join(t.TempDir(), unitFile)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, text
}

// settings are the values of a key of the unit, in their order.
func settings(text, key string) (values []string) {
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found && name == key {
			values = append(values, value)
		}
	}
	return values
}

// TestServiceIsValid: systemd knows every key and every value of the unit.
func TestServiceIsValid(t *testing.T) {
	have(t, "systemd-analyze", "systemd")
	path, _ := unit(t)
	if out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestServiceIsHardened: no more is open to it than was when this was written.
func TestServiceIsHardened(t *testing.T) {
	have(t, "systemd-analyze", "systemd")
	path, _ := unit(t)
	out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold="+mostExposed, path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Overall exposure level") {
		t.Errorf("%v\n%s", err, out)
	}
}

// allowed are the system calls that the unit leaves to the program.
func allowed(t *testing.T, text string) map[string]bool {
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
	for _, filter := range settings(text, "SystemCallFilter") {
		list, deny := strings.CutPrefix(filter, "~")
		for name := range strings.FieldsSeq(list) {
			expand(name, !deny)
		}
	}
	expand("@default", true) // which is always so
	if len(calls) < 100 || calls["reboot"] || !calls["fsync"] {
		t.Fatalf("%d calls are allowed", len(calls))
	}
	return calls
}

var (
	tracedCall   = regexp.MustCompile(`(?m)^\d+ +([a-z_0-9]+)\(`)
	tracedSocket = regexp.MustCompile(`socket\((AF_\w+)`)
	tracedMemory = regexp.MustCompile(`PROT_[A-Z|_]*WRITE[A-Z|_]*PROT_EXEC`)
)

// TestServiceMayDoWhatItDoes: of all that the program asks of the system while it starts,
// sells, reloads, backs up and stops, the unit refuses nothing.
func TestServiceMayDoWhatItDoes(t *testing.T) {
	have(t, "systemd-analyze", "systemd")
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skipf("no strace, which tells what the program asks for: %v", err)
	}
	_, text := unit(t)
	may, families := allowed(t, text), strings.Fields(strings.Join(settings(text, "RestrictAddressFamilies"), " "))
	trace := traced(t)
	if os.Geteuid() == 0 {
		may["fchown"] = true // of SQLite, which asks for it as root alone; the service is not
	}
	for _, call := range tracedCall.FindAllStringSubmatch(trace, -1) {
		if allow, known := may[call[1]]; !allow {
			t.Errorf("the program calls %s, and SystemCallFilter refuses it (named there: %v)", call[1], known)
			may[call[1]] = true // told once
		}
	}
	for _, socket := range tracedSocket.FindAllStringSubmatch(trace, -1) {
		if !slices.Contains(families, socket[1]) {
			t.Errorf("the program opens a socket of %s, and RestrictAddressFamilies refuses it", socket[1])
		}
	}
	if found := tracedMemory.FindString(trace); found != "" {
		t.Errorf("MemoryDenyWriteExecute refuses %s", found)
	}
	for _, call := range []string{"fsync", "accept4", "connect", "mmap"} {
		if !strings.Contains(trace, " "+call+"(") {
			t.Errorf("the trace has no %s: not all was traced", call)
		}
	}
}

// traced is what strace tells of a whole life.
func traced(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	public, admin := freeAddress(t), freeAddress(t)
	config := strings.Replace(fmt.Sprintf(contained, public, admin), "/var/lib/pingpost/data", filepath.Join(dir, "data"), 1)
	config = strings.Replace(config, "buyers: [", `buyers: [{id: buy_gone, endpoint: "http://`+freeAddress(t)+`"}, `, 1)
	config = strings.Replace(config, "{buyer: buy_rest", "{buyer: buy_gone, price: 6}, {buyer: buy_rest", 1) + "trusted_networks: [127.0.0.0/8]\n"
	path, record := filepath.Join(dir, "exchange.yaml"), filepath.Join(dir, "trace")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(built(t), "image", "pingpost")
	cmd := exec.Command("strace", "-f", "-o", record, binary, "serve", "-c", path, "--backup-to", filepath.Join(dir, "backup"), "--backup-unencrypted")
	cmd.Env = append(os.Environ(), "KEY="+apiKey)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if out, err := exec.Command(binary, "health", "--wait", "2m", "--admin", "http://"+admin).CombinedOutput(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if strings.Contains(said.String(), "ptrace") {
			t.Skipf("this machine permits no ptrace: %s", said.String())
		}
		t.Fatalf("%v: %s\n%s", err, out, said.String())
	}
	for range 5 {
		if err := send("http://"+public, "cmp_fixed"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // for a bucket that is empty at a start
	}
	pid := child(t, cmd.Process.Pid)
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		if err := syscall.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// child is the one process that another has started.
func child(t *testing.T, of int) (pid int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", of, of))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return pid
}
