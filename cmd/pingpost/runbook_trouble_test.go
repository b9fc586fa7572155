//go:build linux

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/wal"
)

// prepareFullDisk fills the disk until the exchange refuses leads.
func prepareFullDisk(t *testing.T, m *machine) (after func(*testing.T, string)) {
	m.systemctl("stop")
	if err := syscall.Mount("tmpfs", m.path("lib"), "tmpfs", 0, "size=160m"); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	t.Cleanup(func() {
		m.systemctl("stop")
		_ = syscall.Unmount(m.path("lib"), syscall.MNT_DETACH)
	})
	clear(m.answers)
	m.systemctl("start")
	m.sell("ACCEPTED")
	must.Succeed(t, os.WriteFile(m.path("lib/ballast"), make([]byte, 120<<20), 0o600))
	waitFor(t, func() bool {
		status, _ := m.send("refused")
		return status == http.StatusServiceUnavailable
	})
	return func(t *testing.T, _ string) { m.mustHaveAllLeads() }
}

// prepareFailedDisk ends the process as after a log failure.
func prepareFailedDisk(t *testing.T, m *machine) (after func(*testing.T, string)) {
	m.kill()
	return func(t *testing.T, output string) {
		if !strings.Contains(output, "good") {
			t.Errorf("the copy was not verified:\n%s", output)
		}
		must.Succeed(t, os.RemoveAll(m.data())) // the failed disk is replaced
		m.mustHaveAllLeads()
	}
}

// damageLog flips a bit in the middle of the log, so that the exchange does not start. It
// returns the key of a lead after the damage.
func damageLog(t *testing.T, m *machine) (lost string) {
	t.Helper()
	for range 4 {
		m.sell("ACCEPTED")
	}
	lost = m.sell("ACCEPTED")
	m.systemctl("stop")
	flipBit(t, m.data(), 3)
	if out, err := m.run("systemctl", "start", "pingpost"); err == nil || !strings.Contains(m.journal(), "damaged") {
		t.Fatalf("the exchange started with a damaged log: %s\n%s", out, m.journal())
	}
	return lost
}

// prepareDamageWithoutBackup damages the log. After the operator accepts the loss, leads
// before the damage are there, and later ones are lost.
func prepareDamageWithoutBackup(t *testing.T, m *machine) (after func(*testing.T, string)) {
	lost := damageLog(t, m)
	return func(t *testing.T, output string) {
		if !strings.Contains(output, "DAMAGE") || !strings.Contains(output, "cut; the log ends with entry") {
			t.Errorf("the commands did not report the loss:\n%s", output)
		}
		if !m.hasLead("lead-1") {
			t.Error("a lead from before the damage is lost")
		}
		if m.hasLead(lost) {
			t.Error("a lead after the damage is still there")
		}
	}
}

// flipBit damages the entry of a lead, given the number of leads before it. It removes the
// snapshots, which could replace the entry.
func flipBit(t *testing.T, data string, after int) {
	t.Helper()
	must.Succeed(t, os.RemoveAll(filepath.Join(data, "snapshot")))
	reader := must.Value(wal.NewReader(data, 0))(t)
	defer reader.Close()
	var decoder event.Decoder
	for {
		entry := must.Value(reader.Next())(t)
		record := must.Value(decoder.Decode(entry.Data))(t)
		if record.Kind() != event.KindLeadDecided {
			continue
		}
		if after--; after < 0 {
			break
		}
	}
	segment, end := reader.Position()
	path := filepath.Join(data, "log", fmt.Sprintf("%020d", segment))
	text := must.Value(os.ReadFile(path))(t)
	text[end-1] ^= 1
	writeFile(t, path, string(text))
}

// prepareKeyRotation keeps the old API key, which must not work after the commands.
func prepareKeyRotation(_ *testing.T, m *machine) (after func(*testing.T, string)) {
	oldKey := m.supplierKey
	return func(t *testing.T, output string) {
		newKey, err := os.ReadFile(m.path("etc/pingpost/acme.key"))
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		m.supplierKey = oldKey
		if status, _ := m.send("by the old key"); status != http.StatusUnauthorized {
			t.Errorf("the old key gets status %d, want 401", status)
		}
		m.supplierKey = strings.TrimSpace(string(newKey))
		m.mustHaveAllLeads()
		if out, err := m.run("curl", "-fsS", "-u", "op:first-password-of-a-canary", m.localize("http://127.0.0.1:9090/admin/v1/hash")); err == nil {
			t.Errorf("the old password is accepted: %s", out)
		}
	}
}

// prepareUpgrade installs a new release beside the program.
func prepareUpgrade(t *testing.T, m *machine) (after func(*testing.T, string)) {
	check := provideNewRelease(t, m)
	return func(t *testing.T, output string) {
		check(t, output)
		m.mustHaveAllLeads()
	}
}

// provideNewRelease provides this program as the new release. It returns a check for the old program.
func provideNewRelease(t *testing.T, m *machine) (check func(*testing.T, string)) {
	t.Helper()
	text := must.Value(os.ReadFile(m.path("bin/pingpost")))(t)
	m.script("new", string(text))
	must.Succeed(t, os.MkdirAll(m.path("mnt/new"), 0o700))
	must.Succeed(t, os.Rename(m.path("bin/new"), m.path("mnt/new/pingpost")))
	return func(t *testing.T, output string) {
		if _, err := os.Stat(m.path("bin/pingpost.before")); err != nil {
			t.Errorf("the old program was not kept: %v\n%s", err, output)
		}
	}
}

// prepareDowngrade installs a broken release beside the old program.
func prepareDowngrade(t *testing.T, m *machine) (after func(*testing.T, string)) {
	text := must.Value(os.ReadFile(m.path("bin/pingpost")))(t)
	m.script("pingpost.before", string(text))
	m.script("pingpost", "#!/bin/sh\necho this release is broken >&2; exit 1\n")
	return func(t *testing.T, _ string) { m.mustHaveAllLeads() }
}
