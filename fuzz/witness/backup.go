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

// BackUp has the exchange back up from its next start on, encrypted to a key that it
// does not have.
func (x *Exchange) BackUp() {
	x.t.Helper()
	recipient := filepath.Join(x.dir, "backup.recipient")
	if err := os.WriteFile(recipient, []byte(x.Run("backup", "keygen", x.key())), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.flags = append(x.flags, "--backup-to", x.Store(), "--backup-key-file", recipient)
}

func (x *Exchange) key() string { return filepath.Join(x.dir, "backup.key") }

// Store is where the backup is.
func (x *Exchange) Store() string { return filepath.Join(x.dir, "backup") }

// CaughtUp waits until the backup has all that is logged.
func (x *Exchange) CaughtUp() {
	x.t.Helper()
	Await(x.t, "the backup has everything", func() bool {
		if end := x.Ended(); end != "" {
			x.t.Fatal(end)
		}
		return x.Metric("pingpost_backup_lag_entries") == "0"
	})
}

// restore makes a data directory of the backup, as of an entry; zero: of the last.
func (x *Exchange) restore(to string, at uint64, flags ...string) (p Position) {
	x.t.Helper()
	moment := "latest"
	if at != 0 {
		moment = strconv.FormatUint(at, 10)
	}
	text := x.Run(append([]string{
		"restore", "--from", x.Store(), "--key-file", x.key(), "--at", moment, "--data-dir", to,
	}, flags...)...)
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		x.t.Errorf("a restore said %q: %v", text, err)
	}
	return p
}

// LoseDisk loses the data directory of an exchange that does not run, and makes it again
// from its backup. What was lost with it, and was not in the backup, is what the next
// audit misses.
func (x *Exchange) LoseDisk() {
	x.t.Helper()
	if err := os.RemoveAll(x.Data()); err != nil {
		x.t.Fatal(err)
	}
	x.restore(x.Data(), 0)
}

// Restores looks at copies of the backup: as of each of some entries it has the state
// that the live exchange had there, as of its end it is the log as it was last audited,
// and nobody who was ever erased is in any of them.
func (s *Scene) Restores(live ...Position) {
	s.t.Helper()
	known := readBook(s.terms, strings.Join(s.seen, "\n")+"\n")
	to := filepath.Join(s.dir, "restored")
	for _, at := range append(slices.Clone(live), Position{}) {
		got := s.restore(to, at.Seq, "--drill")
		if at.Seq != 0 && got != at {
			s.t.Errorf("the live state was %+v, and restored it is %+v", at, got)
		}
		dump := strings.Split(strings.TrimSuffix(s.Run("log", "dump", to), "\n"), "\n")
		if !grew(dump, s.seen) || at.Seq == 0 && len(dump) < len(s.seen) {
			s.t.Errorf("restored as of entry %d, the log has %d entries, and not those of the %d that were audited", at.Seq, len(dump), len(s.seen))
		}
		then := readBook(s.terms, strings.Join(dump, "\n")+"\n")
		for id, e := range then.leads {
			e.erased = known.leads[id] != nil && known.leads[id].erased
		}
		for _, finding := range then.keysAt(to) {
			s.t.Error(finding)
		}
		if err := os.RemoveAll(to); err != nil {
			s.t.Error(err)
		}
	}
}

// Keys holds the keys of leads against the log, of an exchange that erases nobody just
// now.
func (s *Scene) Keys() {
	s.t.Helper()
	for _, finding := range readBook(s.terms, s.Dump()).keysAt(s.Data()) {
		s.t.Error(finding)
	}
}
