package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/keys/vault"
)

// Intact folders: unchanged, with a torn end, without the snapshot, and without promises.
func TestCheckAcceptsIntactFolders(t *testing.T) {
	for what, change := range map[string]func(w *world){
		"as it was written":  func(*world) {},
		"without a snapshot": func(w *world) { w.remove(w.snapshotFile()) },
		"with an unfinished one": func(w *world) {
			w.edit(w.snapshotFile(), keepAll)
			w.copy(w.snapshotFile(), w.path("snapshot", "next.tmp"), 100)
		},
		"with a torn end":       func(w *world) { w.edit(w.segment(), func(b []byte) []byte { return append(b, "half an entry"...) }) },
		"with zeros at its end": func(w *world) { w.edit(w.segment(), func(b []byte) []byte { return append(b, make([]byte, 5000)...) }) },
		"with two entries less": func(w *world) { w.cut(13) },
		"with a file that nothing names": func(w *world) {
			keep(w.t, w.path("catalogs"), ".json", "never in force")
			keep(w.t, w.path("keys", "leads"), "", "what somebody else keeps here")
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			change(w)
			if err := w.findings(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckAcceptsEmptyFolderWithoutPromises(t *testing.T) {
	w := newWorld(t)
	w.dir, w.life.promisesBefore = t.TempDir(), promises{}
	if err := w.findings(); err != nil {
		t.Error(err)
	}
}

// Each case breaks one promise.
func TestCheckDetectsBrokenPromises(t *testing.T) {
	for finding, change := range map[string]func(w *world){
		"an output relied on entry 12": func(w *world) { w.cut(11) },
		"is damaged at offset": func(w *world) {
			w.edit(w.segment(), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		},
		"a snapshot contains entry 8": func(w *world) { w.cut(6) },
		"only 13 were written":        func(w *world) { w.life.log.entries = w.life.log.entries[:13] },
		"entry 14 differs from the written one": func(w *world) {
			w.life.log.entries[13].Data = event.AppendRecord(nil, &event.BuyerFundsAdjusted{Buyer: 1, Amount: 77})
		},
		"entry 9 differs":              func(w *world) { w.life.log.entries[8].Epoch++ },
		"entry 3 differs":              func(w *world) { w.life.log.entries[2].At++ },
		"the log alone gives":          func(w *world) { w.life.log.hashes[15] = 1 },
		"a snapshot's name is invalid": func(w *world) { w.edit(w.snapshotFile(), func(b []byte) []byte { b[30] ^= 1; return b }) },
		"name is invalid: snap":        func(w *world) { w.copy(w.snapshotFile(), w.path("snapshot", strings.Repeat("0", 18)+"09.snap"), 60) },
		"key file is missing":          func(w *world) { w.remove(w.path("keys", "exchange.key")) },
		"is not 64 hexadecimal":        func(w *world) { w.edit(w.path("keys", "exchange.key"), func([]byte) []byte { return nil }) },
		"differs from the one that the log": func(w *world) {
			if _, err := vault.OpenExchangeKey(w.path("other"), true); err != nil {
				w.t.Fatal(err)
			}
			w.copy(w.path("other", "keys", "exchange.key"), w.path("keys", "exchange.key"), 1000)
		},
		"named by the log is missing: open":  func(w *world) { w.remove(w.path("catalogs", w.documentHashes[1]+".json")) },
		"file named by the log is missing":   func(w *world) { w.remove(w.path("catalogs", w.overlayHash+".json")) },
		"a file named by the log is missing": func(w *world) { w.remove(w.path("catalogs", w.documentHashes[0]+".json")) },
		"does not match the hash": func(w *world) {
			w.edit(w.path("catalogs", w.documentHashes[1]+".json"), func(b []byte) []byte { return b[:len(b)-1] })
		},
		"no such file or directory":   func(w *world) { w.remove(w.path("lists", w.list)) },
		"hash in its name: 3 bytes":   func(w *world) { w.edit(w.path("lists", w.list), func([]byte) []byte { return make([]byte, 3) }) },
		"revision 2 was acknowledged": func(w *world) { w.life.promisesBefore.revision = 2 },
	} {
		t.Run(finding, func(t *testing.T) {
			w := newWorld(t)
			change(w)
			if err := w.findings(); err == nil || !strings.Contains(err.Error(), finding) {
				t.Errorf("found: %v", err)
			}
		})
	}
}

// Entries that are appended after the loss must be present later.
func TestCheckAppendDetectsLostRecords(t *testing.T) {
	w := newWorld(t)
	o := must.Value(openDir(w.dir))(t)
	o.entries = o.entries[:14] // pretend that the last entry is new
	if err := o.checkAppendedEntries(nil); err == nil || !strings.Contains(err.Error(), "after entry 14") {
		t.Errorf("found: %v", err)
	}
}

func TestReadWrittenLogNeedsWholeLog(t *testing.T) {
	w := newWorld(t)
	if n := len(w.life.log.entries); n != 15 || w.life.log.index.documents[1].hash != w.documentHashes[1] {
		t.Errorf("%d entries, %v", n, w.life.log.index.documents)
	}
	for _, entry := range []uint64{9, 3, 15, 0, 9} {
		whole := &writtenLog{hashes: map[uint64]uint64{}, entries: w.life.log.entries}
		want, bad := whole.hashAt(entry)
		if got, err := w.life.log.hashAt(entry); err != nil || bad != nil || got != want {
			t.Errorf("entry %d: hash %x after others, and %x alone, %v, %v", entry, got, want, err, bad)
		}
	}
	if _, err := readWrittenLog(t.TempDir()); err == nil {
		t.Error("an empty folder has a truth")
	}
	w.edit(w.segment(), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	if _, err := readWrittenLog(w.dir); err == nil {
		t.Error("a damaged log has one")
	}
}

func keepAll(text []byte) []byte { return text }

// copy copies a file, at most so many bytes.
func (w *world) copy(from, to string, most int) {
	w.t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, text[:min(most, len(text))], 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// cut shortens the log to so many entries.
func (w *world) cut(entries int) {
	w.t.Helper()
	w.edit(w.segment(), func(text []byte) []byte {
		at := 0
		for range entries {
			size, n := binary.Uvarint(text[at:])
			at += n + int(size)
		}
		return text[:at]
	})
}
