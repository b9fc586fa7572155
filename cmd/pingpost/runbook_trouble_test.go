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

// filledDisk: something else has filled the disk, and leads are refused.
func filledDisk(t *testing.T, m *machine) (after func(*testing.T, string)) {
	m.systemctl("stop")
	if err := syscall.Mount("tmpfs", m.path("lib"), "tmpfs", 0, "size=160m"); err != nil {
		t.Skipf("this needs a file system of its own, and mounting one is not permitted here: %v", err)
	}
	t.Cleanup(func() {
		m.systemctl("stop")
		_ = syscall.Unmount(m.path("lib"), syscall.MNT_DETACH)
	})
	clear(m.sold)
	m.systemctl("start")
	m.sell("ACCEPTED")
	must.Succeed(t, os.WriteFile(m.path("lib/ballast"), make([]byte, 120<<20), 0o600))
	waitFor(t, func() bool {
		status, _ := m.send("refused")
		return status == http.StatusServiceUnavailable
	})
	return func(t *testing.T, _ string) { m.mustKnowAll() }
}

// failedDisk: the log has failed and the process has ended.
func failedDisk(t *testing.T, m *machine) (after func(*testing.T, string)) {
	m.kill()
	return func(t *testing.T, said string) {
		if !strings.Contains(said, "good") {
			t.Errorf("the copy was not verified:\n%s", said)
		}
		must.Succeed(t, os.RemoveAll(m.data())) // the disk is taken out
		m.mustKnowAll()
	}
}

// damage: a bit of an entry has flipped that others follow, and the exchange does not
// start.
func damage(t *testing.T, m *machine) (lost string) {
	t.Helper()
	for range 4 {
		m.sell("ACCEPTED")
	}
	lost = m.sell("ACCEPTED")
	m.systemctl("stop")
	flipBit(t, m.data(), 3)
	if out, err := m.run("systemctl", "start", "pingpost"); err == nil || !strings.Contains(m.journal(), "damaged") {
		t.Fatalf("it serves a damaged log: %s\n%s", out, m.journal())
	}
	return lost
}

// damagedWithoutBackup: what was acknowledged before the damage is kept, what came
// after it is lost, and the operator has said so.
func damagedWithoutBackup(t *testing.T, m *machine) (after func(*testing.T, string)) {
	lost := damage(t, m)
	return func(t *testing.T, said string) {
		if !strings.Contains(said, "DAMAGE") || !strings.Contains(said, "cut; the log ends with entry") {
			t.Errorf("it was not told what is lost:\n%s", said)
		}
		if !m.knows("lead-1") {
			t.Error("a lead from before the damage is lost")
		}
		if m.knows(lost) {
			t.Error("a lead from behind the damage is there: nothing was damaged")
		}
	}
}

// flipBit damages the entry of the lead so many after the first. The snapshots,
// which would make up for it, are taken away.
func flipBit(t *testing.T, data string, after int) {
	t.Helper()
	must.Succeed(t, os.RemoveAll(filepath.Join(data, "snapshot")))
	reader := must.Value(wal.NewReader(data, 0))(t)
	defer reader.Close()
	var decoder event.Decoder
	for {
		entry := must.Value(reader.Next())(t)
		fact := must.Value(decoder.Decode(entry.Data))(t)
		if fact.Kind() != event.KindLeadDecided {
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
	rewrite(t, path, string(text))
}

// rotatedKeys: a key is known to somebody who should not know it.
func rotatedKeys(_ *testing.T, m *machine) (after func(*testing.T, string)) {
	old := m.key
	return func(t *testing.T, said string) {
		fresh, err := os.ReadFile(m.path("etc/pingpost/acme.key"))
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		m.key = old
		if status, _ := m.send("by the old key"); status != http.StatusUnauthorized {
			t.Errorf("the old key is answered %d", status)
		}
		m.key = strings.TrimSpace(string(fresh))
		m.mustKnowAll()
		if out, err := m.run("curl", "-fsS", "-u", "op:first-password-of-a-canary", m.here("http://127.0.0.1:9090/admin/v1/hash")); err == nil {
			t.Errorf("the old password opens: %s", out)
		}
	}
}

// upgrade: the release that is to come is this program by another name.
func upgrade(t *testing.T, m *machine) (after func(*testing.T, string)) {
	text := must.Value(os.ReadFile(m.path("bin/pingpost")))(t)
	m.script("new", string(text))
	must.Succeed(t, os.MkdirAll(m.path("mnt/new"), 0o700))
	must.Succeed(t, os.Rename(m.path("bin/new"), m.path("mnt/new/pingpost")))
	return func(t *testing.T, said string) {
		if _, err := os.Stat(m.path("bin/pingpost.before")); err != nil {
			t.Errorf("the old program was not kept: %v\n%s", err, said)
		}
		m.mustKnowAll()
	}
}

// downgrade: an upgrade turned out badly, and the old program lies beside it.
func downgrade(t *testing.T, m *machine) (after func(*testing.T, string)) {
	text := must.Value(os.ReadFile(m.path("bin/pingpost")))(t)
	m.script("pingpost.before", string(text))
	m.script("pingpost", "#!/bin/sh\necho this release is broken >&2; exit 1\n")
	return func(t *testing.T, _ string) { m.mustKnowAll() }
}
