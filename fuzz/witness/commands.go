//go:build unix

package witness

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Run runs a pingpost command to its end and returns its output.
func (x *Exchange) Run(args ...string) string {
	x.t.Helper()
	var out, complaints bytes.Buffer
	command := slices.Concat(x.Through, []string{x.Program}, args)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		x.t.Errorf("pingpost %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), complaints.String())
	}
	return out.String()
}

// DumpLog returns the log as text.
func (x *Exchange) DumpLog() string { return x.Run("log", "dump", x.DataDir()) }

// VerifyLog checks every byte of the log and the snapshots.
func (x *Exchange) VerifyLog() {
	x.t.Helper()
	if report := x.Run("log", "verify", x.DataDir()); !strings.HasSuffix(report, "good\n") {
		x.t.Errorf("pingpost log verify failed:\n%s", report)
	}
}

// CheckReplayHash checks that a replay of the log up to a position has the live exchange's hash
// at that position.
func (x *Exchange) CheckReplayHash(live StateHash) {
	x.t.Helper()
	var replayed StateHash
	text := x.Run("log", "hash", x.DataDir(), "--at", strconv.FormatUint(live.Seq, 10))
	if err := json.Unmarshal([]byte(text), &replayed); err != nil || replayed != live {
		x.t.Errorf("replay: the live exchange had the state %+v, the replayed log has %s", live, text)
	}
}

// startsWithLines reports whether now begins with all of before.
func startsWithLines(before, now []string) bool {
	return len(now) >= len(before) && slices.Equal(now[:len(before)], before)
}

// Number of admin reads for one audit.
const (
	readLeads    = 12 // explanations, and lookups as the supplier or a buyer
	readAuctions = 4
	readBuyers   = 3 // statements of buyers; the supplier's comes in addition
)

// readAdminSources reads explanations, statements, lookups and lists, and records the log's
// position before them. When idle it reads every statement.
func (s *Harness) readAdminSources(p *Evidence) {
	s.t.Helper()
	random := s.readRandom
	p.sinceSeq, p.hasAdminReads = s.ReadStateHash().Seq, true
	s.readRandomLeads(p, random)
	for range min(readAuctions, len(p.pings)) {
		t := p.pings[random.IntN(len(p.pings))]
		one := &answerExplanation{request: t}
		one.text = s.AdminGet("/admin/v1/explain?id="+auctionIDFromKey(t.key)+"&supplier="+SupplierID, nil)
		p.explanations = append(p.explanations, one)
	}
	s.AdminGet("/admin/v1/deliveries", &p.openDeliveries)
	s.AdminGet("/admin/v1/returns?limit=500", &p.pendingReturns)
	s.readStatement(p, "supplier="+SupplierID)
	buyers := random.Perm(len(s.config.buyers))
	if !p.idle {
		buyers = buyers[:min(readBuyers, len(buyers))]
	}
	for _, i := range buyers {
		s.readStatement(p, "buyer="+s.config.buyers[i].id)
	}
}

func (s *Harness) readStatement(p *Evidence, partyQuery string) {
	s.t.Helper()
	one := &accountStatement{}
	s.AdminGet("/admin/v1/statement?"+partyQuery+"&from=2020-01-01&to=2190-01-01", one)
	p.statements = append(p.statements, one)
}

func (s *Harness) readRandomLeads(p *Evidence, random *rand.Rand) {
	s.t.Helper()
	client := s.Suppliers.newClient(rand.New(rand.NewPCG(random.Uint64(), 0)))
	defer client.client.CloseIdleConnections()
	for range min(readLeads, len(p.answers)) {
		t := p.answers[random.IntN(len(p.answers))]
		one := s.Suppliers.newLookup(t, random)
		if one == nil {
			continue
		}
		one.reportCount = 0 // sinceSeq is a tighter bound
		one.sinceSeq = p.sinceSeq
		var ok bool
		if one.Response, ok = client.send(s.t.Context(), one.clientRequest); ok {
			p.lookups = append(p.lookups, one)
		}
		answered := &answerExplanation{request: t}
		answered.text = s.AdminGet("/admin/v1/explain/"+t.parsed.Data.ID, nil)
		p.explanations = append(p.explanations, answered)
	}
}

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
