package coldfiles

import (
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/must"
	"pingpost/wal/rowfile"
)

const (
	day  = 24 * time.Hour
	keep = 45 * day
)

// exchangeFolder is a state with a folder of cold files, and the names of its last snapshot.
type exchangeFolder struct {
	t     *testing.T
	dir   string
	state *state.State
	cold  *Folder
	meta  []byte
	seq   uint64
	now   time.Time
}

func newExchangeFolder(t *testing.T) *exchangeFolder {
	x := &exchangeFolder{t: t, dir: t.TempDir(), state: state.New(), now: time.Unix(1_800_000_000, 0)}
	x.cold = must.Value(Open(nil, Options{DataDir: x.dir, Logger: slog.New(slog.DiscardHandler)}))(t)
	x.apply(&event.ExchangeFounded{Epoch: [16]byte{1}, At: 1})
	return x
}

func (x *exchangeFolder) apply(e event.Event) {
	x.seq++
	x.state.Apply(x.seq, x.now.UnixNano(), e)
}

// leadID returns the id of a lead by its number.
func leadID(n uint64) (id market.LeadID) {
	binary.BigEndian.PutUint64(id[:], n*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], n*0xd6e8feb86659fd93)
	return id
}

func (x *exchangeFolder) decideLeads(first, count uint64) {
	for n := range count {
		x.apply(&event.LeadDecided{Lead: leadID(first + n), Decided: x.now.UnixNano(), Keep: x.now.Add(keep).UnixNano(), Reason: market.ReasonNoBuyer})
	}
}

// snapshot writes a snapshot, which moves the leads that are older than a day. The log has an entry of the present time.
func (x *exchangeFolder) snapshot() {
	x.t.Helper()
	x.apply(&event.OperatorActionRecorded{})
	move := must.Value(x.cold.BeginMove(x.state, x.now.Add(-day).UnixNano(), 1, rowfile.WriteOptions{}))(x.t)
	defer move.Abort()
	_, _, err := x.state.WriteSnapshot(io.Discard, &move.Rows)
	must.Succeed(x.t, err)
	x.meta = must.Value(move.Finish())(x.t)
	must.Succeed(x.t, move.Apply(false, x.now.UnixNano()))
}

func (x *exchangeFolder) merge(hasRoom bool) (merged bool) {
	x.t.Helper()
	return must.Value(x.cold.MergeIfMany(x.state, func(uint64) bool { return hasRoom }, rowfile.WriteOptions{}))(x.t)
}

func (x *exchangeFolder) filesOnDisk() int {
	return len(must.Value(filepath.Glob(filepath.Join(x.dir, "cold", "*")))(x.t))
}

// Snapshots move old leads to files, merges keep at most four of them, and files whose leads have all expired and those
// that no snapshot names disappear.
func TestFilesAreMergedAndDeleted(t *testing.T) {
	x := newExchangeFolder(t)
	decided := uint64(0)
	for range 9 {
		x.decideLeads(decided, 300)
		decided += 300
		x.now = x.now.Add(2 * day)
		x.snapshot()
		if x.merge(false) {
			t.Error("merged without room on the disk")
		}
		for x.merge(true) {
		}
		if files := len(x.cold.Files()); files > maxFiles {
			t.Errorf("%d files after the merges", files)
		}
		if held := x.state.LeadCountWithExpired(); held != 0 {
			t.Errorf("memory has %d leads", held)
		}
		for n := range decided {
			if lead, found, err := x.state.Lead(leadID(n)); err != nil || !found || lead.ID != leadID(n) {
				t.Fatalf("lead %d of %d: %+v, %t, %v", n, decided, lead, found, err)
			}
		}
	}
	if leads, bytes := CountLeadsAndBytes(x.state.ColdFiles()); leads != int(decided) || bytes <= 0 {
		t.Errorf("%d leads in files of %d bytes, want %d", leads, bytes, decided)
	}
	if kept := x.cold.KeptFor(); kept < keep || kept > keep+time.Minute {
		t.Errorf("leads are kept for %s, want %s", kept, keep)
	}
	reopened := must.Value(Open(x.meta, Options{DataDir: x.dir}))(t)
	if len(reopened.Files()) == 0 || reopened.KeptFor() != x.cold.KeptFor() {
		t.Errorf("reopened: %d files, leads are kept for %s", len(reopened.Files()), reopened.KeptFor())
	}
	x.now = x.now.Add(keep)
	for range 2 {
		x.snapshot()
	}
	if left := x.filesOnDisk(); left != 0 || len(x.cold.Files()) != 0 || x.cold.KeptFor() != 0 {
		t.Errorf("%d files are left after all leads have expired, %d in use", left, len(x.cold.Files()))
	}
}

// A merge drops expired leads as soon as they are more than half of a file.
func TestMergeDropsExpiredLeads(t *testing.T) {
	x := newExchangeFolder(t)
	x.decideLeads(0, 100)
	x.now = x.now.Add(time.Hour)
	x.decideLeads(100, 1)
	x.now = x.now.Add(2 * day)
	x.snapshot()
	x.decideLeads(101, 1)
	x.now = x.now.Add(2 * day)
	x.snapshot()
	if x.merge(true) {
		t.Error("merged two files without expired leads")
	}
	x.now = time.Unix(1_800_000_000, 0).Add(keep + 2*time.Minute)
	x.apply(&event.OperatorActionRecorded{})
	if x.merge(true) {
		t.Error("merged at an expiry of half of the minutes")
	}
	x.now = x.now.Add(time.Hour)
	x.apply(&event.OperatorActionRecorded{})
	if !x.merge(true) {
		t.Error("a file of expired leads was not merged")
	}
	if leads, _ := CountLeadsAndBytes(x.state.ColdFiles()); leads != 1 {
		t.Errorf("%d leads are left, want 1", leads)
	}
	x.decideLeads(102, 1)
	x.now = x.now.Add(day + time.Hour)
	x.snapshot()
	if x.merge(true) {
		t.Error("merged files whose expired leads an earlier merge has dropped")
	}
}

// Each run of the program merges files and ends with its only snapshot. Files of earlier runs disappear.
func TestRunsWithOneSnapshotDeleteOldFiles(t *testing.T) {
	x := newExchangeFolder(t)
	for n := range uint64(12) {
		for x.merge(true) {
		}
		x.decideLeads(100*n, 10)
		x.now = x.now.Add(2 * day)
		x.snapshot()
		x.cold = must.Value(Open(x.meta, Options{DataDir: x.dir, Logger: slog.New(slog.DiscardHandler)}))(t)
		x.state.SetColdFiles(x.cold.Files())
	}
	if files := x.filesOnDisk(); files > 2*maxFiles+2 {
		t.Errorf("%d files are on the disk", files)
	}
}

func TestOpenRefusesForeignMeta(t *testing.T) {
	x := newExchangeFolder(t)
	x.decideLeads(0, 10)
	x.now = x.now.Add(2 * day)
	x.snapshot()
	must.Succeed(t, os.WriteFile(filepath.Join(x.dir, "secret"), nil, 0o600))
	for _, meta := range []string{"no JSON", `{"cold_files": [{"name": "../secret"}]}`, `{"cold_files": [{"name": "0000000000000009.rows"}]}`} {
		cold, err := Open([]byte(meta), Options{DataDir: x.dir})
		if !errors.Is(err, ErrIncomplete) || len(cold.Files()) != 0 {
			t.Errorf("%s: %d files, %v", meta, len(cold.Files()), err)
		}
	}
	must.Succeed(t, os.RemoveAll(filepath.Join(x.dir, "cold")))
	if cold, err := Open(x.meta, Options{DataDir: x.dir}); !errors.Is(err, ErrIncomplete) || cold.KeptFor() < keep {
		t.Errorf("of lost files the log must keep the entries for %s, got %s, %v", keep, cold.KeptFor(), err)
	}
}
