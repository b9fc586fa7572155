//go:build unix

package witness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// EnableBackup makes the exchange back up from its next start on. The backup is encrypted to a
// key that the exchange does not have.
func (x *Exchange) EnableBackup() {
	x.t.Helper()
	recipient := filepath.Join(x.dir, "backup.recipient")
	if err := os.WriteFile(recipient, []byte(x.Run("backup", "keygen", x.backupKeyPath())), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.flags = append(x.flags, "--backup-to", x.BackupDir(), "--backup-key-file", recipient)
}

func (x *Exchange) backupKeyPath() string { return filepath.Join(x.dir, "backup.key") }

// BackupDir returns the directory of the backup.
func (x *Exchange) BackupDir() string { return filepath.Join(x.dir, "backup") }

// AwaitBackup waits until the backup contains the whole log.
func (x *Exchange) AwaitBackup() {
	x.t.Helper()
	x.AwaitWhileRunning("the backup contains the whole log", func() bool { return x.Metric("pingpost_backup_lag_entries") == "0" })
}

// restoreBackup restores the backup into a new data directory, as of a log position (zero: the
// newest).
func (x *Exchange) restoreBackup(dataDir string, upToSeq uint64, flags ...string) (p StateHash) {
	x.t.Helper()
	moment := "latest"
	if upToSeq != 0 {
		moment = strconv.FormatUint(upToSeq, 10)
	}
	text := x.Run(append([]string{
		"restore", "--from", x.BackupDir(), "--key-file", x.backupKeyPath(), "--at", moment, "--data-dir", dataDir,
	}, flags...)...)
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		x.t.Errorf("pingpost restore printed %q: %v", text, err)
	}
	return p
}

// RestoreAfterDiskLoss deletes the data directory of a stopped exchange and restores it from
// the backup. The next audit finds every acknowledged record that the backup lacks.
func (x *Exchange) RestoreAfterDiskLoss() {
	x.t.Helper()
	if err := os.RemoveAll(x.DataDir()); err != nil {
		x.t.Fatal(err)
	}
	x.restoreBackup(x.DataDir(), 0)
}

// CheckRestoredCopies restores drill copies of the backup. A copy as of a given position must have
// the live exchange's hash at that position. The newest copy must have the log of the last
// audit. No copy may hold the key of an erased lead.
func (s *Harness) CheckRestoredCopies(live ...StateHash) {
	s.t.Helper()
	known := readLogModel(s.config, strings.Join(s.lastDump, "\n")+"\n")
	to := filepath.Join(s.dir, "restored")
	for _, at := range append(slices.Clone(live), StateHash{}) {
		got := s.restoreBackup(to, at.Seq, "--drill")
		if at.Seq != 0 && got != at {
			s.t.Errorf("restore: the live exchange had the state %+v, the copy has %+v", at, got)
		}
		dump := strings.Split(strings.TrimSuffix(s.Run("log", "dump", to), "\n"), "\n")
		if !startsWithLines(dump, s.lastDump) || at.Seq == 0 && len(dump) < len(s.lastDump) {
			s.t.Errorf("restore: the copy as of entry %d has %d entries, which differ from the %d audited ones", at.Seq, len(dump), len(s.lastDump))
		}
		then := readLogModel(s.config, strings.Join(dump, "\n")+"\n")
		for id, e := range then.leads {
			e.erased = known.leads[id] != nil && known.leads[id].erased
		}
		for _, finding := range then.checkLeadKeys(to) {
			s.t.Error(finding)
		}
		if err := os.RemoveAll(to); err != nil {
			s.t.Error(err)
		}
	}
}

// CheckLeadKeys compares the lead keys with the log. The caller ensures that no erasure is in
// flight.
func (s *Harness) CheckLeadKeys() {
	s.t.Helper()
	for _, finding := range readLogModel(s.config, s.DumpLog()).checkLeadKeys(s.DataDir()) {
		s.t.Error(finding)
	}
}
