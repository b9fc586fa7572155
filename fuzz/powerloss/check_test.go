package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/keys/vault"
)

// TestHonestWorldHasNoFindings: as it was written, with a torn end, without its
// snapshot, and with nothing that was told.
func TestHonestWorldHasNoFindings(t *testing.T) {
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

func TestNothingAtAllIsEnoughBeforeAnythingWasTold(t *testing.T) {
	w := newWorld(t)
	w.dir, w.life.before = t.TempDir(), promises{}
	if err := w.findings(); err != nil {
		t.Error(err)
	}
}

// TestEachBrokenPromiseIsFound breaks one at a time.
func TestEachBrokenPromiseIsFound(t *testing.T) {
	for finding, change := range map[string]func(w *world){
		"what entry 12 says was told": func(w *world) { w.cut(11) },
		"is damaged at offset": func(w *world) {
			w.edit(w.segment(), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		},
		"a snapshot contains entry 8": func(w *world) { w.cut(6) },
		"13 were ever written":        func(w *world) { w.life.truth.entries = w.life.truth.entries[:13] },
		"entry 14 is not the one that was written": func(w *world) {
			w.life.truth.entries[13].Data = event.Append(nil, &event.FundsMoved{Buyer: 1, Amount: 77})
		},
		"entry 9 is not the one": func(w *world) { w.life.truth.entries[8].Epoch++ },
		"entry 3 is not the one": func(w *world) { w.life.truth.entries[2].At++ },
		"by the log alone":       func(w *world) { w.life.truth.hashes[15] = 1 },
		"a snapshot is none":     func(w *world) { w.edit(w.snapshotFile(), func(b []byte) []byte { b[30] ^= 1; return b }) },
		"snapshot is none: snap": func(w *world) { w.copy(w.snapshotFile(), w.path("snapshot", strings.Repeat("0", 18)+"09.snap"), 60) },
		"key file is missing":    func(w *world) { w.remove(w.path("keys", "exchange.key")) },
		"is not 64 hexadecimal":  func(w *world) { w.edit(w.path("keys", "exchange.key"), func([]byte) []byte { return nil }) },
		"not the one that the log": func(w *world) {
			if _, err := vault.Open(w.path("other"), true); err != nil {
				w.t.Fatal(err)
			}
			w.copy(w.path("other", "keys", "exchange.key"), w.path("keys", "exchange.key"), 1000)
		},
		"a file that is not there":  func(w *world) { w.remove(w.path("catalogs", w.docs[1]+".json")) },
		"the log names a file that": func(w *world) { w.remove(w.path("catalogs", w.made+".json")) },
		"names a file that is not":  func(w *world) { w.remove(w.path("catalogs", w.docs[0]+".json")) },
		"is not what its name says": func(w *world) {
			w.edit(w.path("catalogs", w.docs[1]+".json"), func(b []byte) []byte { return b[:len(b)-1] })
		},
		"no such file or directory": func(w *world) { w.remove(w.path("lists", w.list)) },
		"its name says: 3 bytes":    func(w *world) { w.edit(w.path("lists", w.list), func([]byte) []byte { return make([]byte, 3) }) },
		"revision 2 was told to be": func(w *world) { w.life.before.revision = 2 },
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

// TestALogThatDoesNotGoOnIsFound: what is appended after the loss must be there.
func TestALogThatDoesNotGoOnIsFound(t *testing.T) {
	w := newWorld(t)
	o, err := open(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	o.entries = o.entries[:14] // as if one had been invented since
	if err := o.goOn(nil); err == nil || !strings.Contains(err.Error(), "behind entry 14") {
		t.Errorf("found: %v", err)
	}
}

func TestTruthNeedsAWholeLog(t *testing.T) {
	w := newWorld(t)
	if n := len(w.life.truth.entries); n != 15 || w.life.truth.facts.documents[1].hash != w.docs[1] {
		t.Errorf("%d entries, %v", n, w.life.truth.facts.documents)
	}
	for _, entry := range []uint64{9, 3, 15, 0, 9} {
		whole := &truth{hashes: map[uint64]uint64{}, entries: w.life.truth.entries}
		want, bad := whole.hash(entry)
		if got, err := w.life.truth.hash(entry); err != nil || bad != nil || got != want {
			t.Errorf("entry %d: hash %x after others, and %x alone, %v, %v", entry, got, want, err, bad)
		}
	}
	if _, err := readTruth(t.TempDir()); err == nil {
		t.Error("an empty folder has a truth")
	}
	w.edit(w.segment(), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	if _, err := readTruth(w.dir); err == nil {
		t.Error("a damaged log has one")
	}
}

func keepAll(text []byte) []byte { return text }

// copy copies a file, up to so many bytes.
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

// cut leaves so many entries in the log.
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
