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

// TestErasedIsNotRestored: two are sold and backed up, and one is erased. Restored to the
// moment before the erasure and served, the exchange knows the other one alone: what the
// erased one was sealed with is in no file of it, and in no object of the backup. Sums
// and hashes are what they were.
func TestErasedIsNotRestored(t *testing.T) {
	f := newFolders(t)
	flags := []string{"-c", f.config, "--backup-to", f.to, "--backup-unencrypted"}
	s := serve(t, flags...)
	public, admin := s.addresses("production")
	s.hears("backup: the exchange can now be restored from this generation")
	gone, kept := sendOne(t, public), sendOne(t, public)
	statement := mustRun(t, "statement", "--admin", admin, "--supplier", "sup", "--format", "csv")
	awaitBackup(t, admin)
	before := standOf(t, mustRun(t, "log", "hash", f.data))
	if said := mustRun(t, "erase", gone, "--admin", admin); said != "erased  1\n" {
		t.Fatal(said)
	}
	awaitBackup(t, admin)
	waitFor(t, func() bool { // a key file counts once it has been left alone for two seconds
		found, err := filepath.Glob(filepath.Join(f.to, "erased", "leads", "*", "*"))
		return err == nil && len(found) > 0
	})
	s.signal(syscall.SIGKILL)
	s.ends()
	must.Succeed(t, os.RemoveAll(f.data))

	at := fmt.Sprint(before.Seq)
	restored := standOf(t, mustRun(t, "restore", "--from", f.to, "--at", at, "--data-dir", f.data))
	if restored.Seq != before.Seq || restored.Hash != before.Hash {
		t.Errorf("restored %+v, and there was %+v", restored, before)
	}
	for range 2 { // with the log as it was restored, and by way of a snapshot
		again := serve(t, flags...)
		_, admin = again.addresses("production")
		mustPrint(t, "The person was erased", "explain", gone, "--admin", admin)
		if told := mustRun(t, "explain", kept, "--admin", admin); strings.Contains(told, "The person was erased") {
			t.Errorf("the other lead:\n%s", told)
		}
		mustPrint(t, statement, "statement", "--admin", admin, "--supplier", "sup", "--format", "csv")
		again.stops()
	}
	third := serve(t, flags...)
	public, admin = third.addresses("production")
	later := sendOne(t, public)
	awaitBackup(t, admin)
	third.signal(syscall.SIGTERM)
	third.ends()
	mustRun(t, "log", "verify", f.data)
	mustRun(t, "backup", "verify", "--from", f.to)
	facts := mustRun(t, "log", "dump", f.data)
	if !strings.Contains(facts, gone) || !strings.Contains(facts, later) {
		t.Error("a lead is not in the log")
	}
	mustNotName(t, f.data, f.to)
	for where, keys := range keysIn(t, f) {
		opens := whoOpens(t, f.data, keys)
		if opens[gone] || !opens[kept] || !opens[later] {
			t.Errorf("%s opens %v", where, opens)
		}
	}
}

// mustNotName looks through all files below folders for the person.
func mustNotName(t testing.TB, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		eachFile(t, folder, func(path, text string) {
			for _, canary := range []string{person, "2125550123"} {
				if strings.Contains(strings.ToLower(text), strings.ToLower(canary)) {
					t.Errorf("%s has %s", path, canary)
				}
			}
		})
	}
}

// keysIn are the files of leads' keys in the folder, and each version in the backup: a
// folder each, with what a thief of it could try.
func keysIn(t testing.TB, f folders) map[string]string {
	t.Helper()
	found := map[string]string{"the folder": f.data}
	versions, err := filepath.Glob(filepath.Join(f.to, "keys", "leads", "*", "*"))
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

// whoOpens tells of a log's leads which can be opened by the keys of a folder.
func whoOpens(t testing.TB, data, keys string) map[string]bool {
	t.Helper()
	with := must.Value(leadkeys.Open(keys, 3, leadkeys.SumKey{}, func(what string, err error) { t.Error(what, err) }))(t)
	defer with.Close()
	log := must.Value(wal.NewReader(data, 1))(t)
	defer log.Close()
	opens := map[string]bool{}
	for {
		entry, err := log.Next()
		if errors.Is(err, io.EOF) {
			return opens
		}
		must.Succeed(t, err)
		fact := must.Value(new(event.Decoder).Decode(entry.Data))(t)
		if lead, ok := fact.(*event.LeadDecided); ok {
			_, err := with.Open(nil, lead.Slot, lead.Lead, lead.Sealed)
			opens[lead.Lead.String()] = err == nil
		}
	}
}
