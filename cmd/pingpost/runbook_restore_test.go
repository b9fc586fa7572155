//go:build linux

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// noBackup: nobody has thought of one yet.
func noBackup(_ *testing.T, m *machine) (after func(*testing.T, string)) {
	return func(t *testing.T, said string) {
		if !strings.Contains(said, "restores  entries 1 to") || !strings.Contains(said, "good") {
			t.Errorf("the backup was not verified:\n%s", said)
		}
		if key, err := os.ReadFile(m.path("etc/pingpost/backup.recipient")); err != nil || strings.Contains(string(key), "SECRET") {
			t.Errorf("what opens the backups lies on the machine: %v", err)
		}
		m.mustKnowAll()
	}
}

// backedUp has the service back up as the runbook has it, and all leads so far in it.
func backedUp(t *testing.T, m *machine) {
	t.Helper()
	m.bash(runbook(t)["backup"])
	for range 4 {
		m.sell("ACCEPTED")
	}
	m.caughtUp()
}

// caughtUp waits until the backup has everything.
func (m *machine) caughtUp() {
	m.t.Helper()
	waitFor(m.t, func() bool {
		out, err := m.run("bash", "-c", `curl -fsS $ADMIN/metrics | grep '^pingpost_backup_lag_entries '`)
		return err == nil && strings.TrimSpace(out) == "pingpost_backup_lag_entries 0"
	})
}

func damagedLog(t *testing.T, m *machine) (after func(*testing.T, string)) {
	backedUp(t, m)
	damage(t, m)
	return func(t *testing.T, said string) {
		if !strings.Contains(said, "DAMAGE") {
			t.Errorf("it was not told what is damaged:\n%s", said)
		}
		m.mustKnowAll()
		m.caughtUp() // its next life is backed up to the same place
	}
}

// lostMachine: its disk is gone, and so is what it ran.
func lostMachine(t *testing.T, m *machine) (after func(*testing.T, string)) {
	backedUp(t, m)
	m.kill()
	must.Succeed(t, os.RemoveAll(m.data()))
	return func(t *testing.T, _ string) {
		m.mustKnowAll()
		m.caughtUp()
	}
}

// regretted: since a moment everything went wrong.
func regretted(t *testing.T, m *machine) (after func(*testing.T, string)) {
	backedUp(t, m)
	time.Sleep(1100 * time.Millisecond) // the moment is told in whole seconds
	moment := time.Now().UTC().Truncate(time.Second)
	time.Sleep(time.Until(moment.Add(time.Second)))
	undone := m.sell("ACCEPTED")
	m.caughtUp()
	m.moment = moment.Format(time.RFC3339)
	return func(t *testing.T, _ string) {
		answer := m.sold[undone]
		delete(m.sold, undone)
		m.mustKnowAll()
		if status, body := m.send(undone); status != 201 || bytes.Equal(body, answer) {
			t.Errorf("what was to be undone is there: %d %s", status, body)
		}
	}
}
