package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/keys/leadkeys"
	"pingpost/wal"
)

// TestRestoreKeepsErasure sells and backs up two leads and erases one. After a restore to
// the time before the erasure, the exchange has only the other person: no file and no object
// of the backup has the erased lead's key. Sums and hashes are unchanged.
func TestRestoreKeepsErasure(t *testing.T) {
	t.Parallel()
	f := newBackupPaths(t)
	flags := []string{"-c", f.config, "--backup-to", f.backups, "--backup-unencrypted"}
	s := startServe(t, flags...)
	public, admin := s.addresses("production")
	s.waitForOutput("backup: the exchange can now be restored from this generation")
	erased, kept := sellLead(t, public), sellLead(t, public)
	statement := mustRun(t, "statement", "--admin", admin, "--supplier", "sup", "--format", "csv")
	awaitBackup(t, admin)
	before := parseLogPosition(t, mustRun(t, "log", "hash", f.data))
	if out := mustRun(t, "erase", erased, "--admin", admin); out != "erased  1\n" {
		t.Fatal(out)
	}
	awaitBackup(t, admin)
	waitFor(t, func() bool { // the backup takes a key file that was unchanged for two seconds
		found, err := filepath.Glob(filepath.Join(f.backups, "erased", "leads", "*", "*"))
		return err == nil && len(found) > 0
	})
	s.sendSignal(syscall.SIGKILL)
	s.waitForExit()
	must.Succeed(t, os.RemoveAll(f.data))

	at := fmt.Sprint(before.Seq)
	restored := parseLogPosition(t, mustRun(t, "restore", "--from", f.backups, "--at", at, "--data-dir", f.data))
	if restored.Seq != before.Seq || restored.Hash != before.Hash {
		t.Errorf("restored %+v, want %+v", restored, before)
	}
	for range 2 { // from the restored log, then from a snapshot
		restarted := startServe(t, flags...)
		_, admin = restarted.addresses("production")
		mustPrint(t, "The person was erased", "explain", erased, "--admin", admin)
		if text := mustRun(t, "explain", kept, "--admin", admin); strings.Contains(text, "The person was erased") {
			t.Errorf("the other lead is erased too:\n%s", text)
		}
		mustPrint(t, statement, "statement", "--admin", admin, "--supplier", "sup", "--format", "csv")
		restarted.stop()
	}
	third := startServe(t, flags...)
	public, admin = third.addresses("production")
	later := sellLead(t, public)
	awaitBackup(t, admin)
	third.sendSignal(syscall.SIGTERM)
	third.waitForExit()
	mustRun(t, "log", "verify", f.data)
	mustRun(t, "backup", "verify", "--from", f.backups)
	events := mustRun(t, "log", "dump", f.data)
	if !strings.Contains(events, erased) || !strings.Contains(events, later) {
		t.Error("the log lacks a lead")
	}
	mustNotContainPerson(t, f.data, f.backups)
	for where, keys := range leadKeyFolders(t, f) {
		decryptable := decryptableLeads(t, f.data, keys)
		if decryptable[erased] || !decryptable[kept] || !decryptable[later] {
			t.Errorf("the keys of %s decrypt %v", where, decryptable)
		}
	}
}

// mustNotContainPerson searches all files below the folders for the person.
func mustNotContainPerson(t testing.TB, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		eachFile(t, folder, func(path, text string) {
			for _, canary := range []string{personName, "2125550123"} {
				if strings.Contains(strings.ToLower(text), strings.ToLower(canary)) {
					t.Errorf("%s has %s", path, canary)
				}
			}
		})
	}
}

// leadKeyFolders returns the data folder, and a folder for each version of the leads' keys
// in the backup.
func leadKeyFolders(t testing.TB, f backupPaths) map[string]string {
	t.Helper()
	found := map[string]string{"the folder": f.data}
	versions, err := filepath.Glob(filepath.Join(f.backups, "keys", "leads", "*", "*"))
	if err != nil || len(versions) == 0 {
		t.Fatalf("no keys in the backup: %v", err)
	}
	for _, version := range versions {
		dir := t.TempDir()
		must.Succeed(t, os.MkdirAll(filepath.Join(dir, "keys", "leads"), 0o700))
		text := must.Value(os.ReadFile(version))(t)
		must.Succeed(t, os.WriteFile(filepath.Join(dir, "keys", "leads", filepath.Base(filepath.Dir(version))), text, 0o600))
		found[version] = dir
	}
	return found
}

// decryptableLeads reports for each lead of a log if the keys of a folder decrypt it.
func decryptableLeads(t testing.TB, data, keys string) map[string]bool {
	t.Helper()
	store := must.Value(leadkeys.OpenKeyStore(keys, 3, leadkeys.KeyFileChecksumKey{}, func(action string, err error) { t.Error(action, err) }))(t)
	defer store.Close()
	log := must.Value(wal.NewReader(data, 1))(t)
	defer log.Close()
	decryptable := map[string]bool{}
	for {
		entry, err := log.Next()
		if errors.Is(err, io.EOF) {
			return decryptable
		}
		must.Succeed(t, err)
		record := must.Value(new(event.Decoder).Decode(entry.Data))(t)
		if lead, ok := record.(*event.LeadDecided); ok {
			_, err := store.Open(nil, lead.Slot, lead.Lead, lead.Sealed)
			decryptable[lead.Lead.String()] = err == nil
		}
	}
}
