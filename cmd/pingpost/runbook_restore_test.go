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

// prepareNoBackup leaves the machine without a backup.
func prepareNoBackup(_ *testing.T, m *machine) (after func(*testing.T, string)) {
	return func(t *testing.T, output string) {
		if !strings.Contains(output, "restores  entries 1 to") || !strings.Contains(output, "good") {
			t.Errorf("the backup was not verified:\n%s", output)
		}
		if key, err := os.ReadFile(m.path("etc/pingpost/backup.recipient")); err != nil || strings.Contains(string(key), "SECRET") {
			t.Errorf("the machine has the secret key of the backups: %v", err)
		}
		m.mustHaveAllLeads()
	}
}

// startBackup starts the runbook's backup and waits until it has all leads.
func startBackup(t *testing.T, m *machine) {
	t.Helper()
	m.bash(runbookCommands(t)["backup"])
	for range 4 {
		m.sell("ACCEPTED")
	}
	m.waitForBackup()
}

// waitForBackup waits until the backup has all events.
func (m *machine) waitForBackup() {
	m.t.Helper()
	waitFor(m.t, func() bool {
		out, err := m.run("bash", "-c", `curl -fsS $ADMIN/metrics | grep '^pingpost_backup_lag_entries '`)
		return err == nil && strings.TrimSpace(out) == "pingpost_backup_lag_entries 0"
	})
}

func prepareDamagedLog(t *testing.T, m *machine) (after func(*testing.T, string)) {
	startBackup(t, m)
	damageLog(t, m)
	return func(t *testing.T, output string) {
		if !strings.Contains(output, "DAMAGE") {
			t.Errorf("the commands did not report the damage:\n%s", output)
		}
		m.mustHaveAllLeads()
		m.waitForBackup() // the restored exchange is backed up to the same place
	}
}

// prepareLostMachine kills the service and removes its data.
func prepareLostMachine(t *testing.T, m *machine) (after func(*testing.T, string)) {
	startBackup(t, m)
	m.kill()
	must.Succeed(t, os.RemoveAll(m.data()))
	return func(t *testing.T, _ string) {
		m.mustHaveAllLeads()
		m.waitForBackup()
	}
}

// prepareRestoreToTime sells a lead after the time to restore.
func prepareRestoreToTime(t *testing.T, m *machine) (after func(*testing.T, string)) {
	startBackup(t, m)
	time.Sleep(1100 * time.Millisecond) // the restore time has whole seconds
	moment := time.Now().UTC().Truncate(time.Second)
	time.Sleep(time.Until(moment.Add(time.Second)))
	laterLead := m.sell("ACCEPTED")
	m.waitForBackup()
	m.restoreTime = moment.Format(time.RFC3339)
	return func(t *testing.T, _ string) {
		answer := m.answers[laterLead]
		delete(m.answers, laterLead)
		m.mustHaveAllLeads()
		if status, body := m.send(laterLead); status != 201 || bytes.Equal(body, answer) {
			t.Errorf("the lead sold after the restore time is still there: %d %s", status, body)
		}
	}
}
