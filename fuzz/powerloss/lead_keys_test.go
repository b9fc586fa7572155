package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/keys/leadkeys"
)

// worldWithLeadKeys returns a world with a key file. Entry 3 uses slot 1, entry 6 uses slot 2,
// and entry 9 drops slot 2's key; its erasure was acknowledged.
func worldWithLeadKeys(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	keys := make([]byte, leadkeys.PerFile*leadkeys.KeySize)
	for i := range keys {
		keys[i] = 1
	}
	clear(keys[leadkeys.KeySize : 2*leadkeys.KeySize])
	path := w.keys()
	must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Succeed(t, os.WriteFile(path, keys, 0o600))
	var err error
	if w.life.log.keys, err = readKeys(w.dir); err != nil {
		t.Fatal(err)
	}
	f := &w.life.log.index
	f.sealed, f.erased = []encryptedEntry{{3, 1}, {6, 2}}, []erasure{{9, []uint64{2}}}
	w.life.acks = []ack{{tick: 500, isErasure: true, revision: -1}}
	return w
}

func (w *world) keys() string { return w.path("keys", "leads", "00000000000000000001") }

// A key is present until it is dropped. After an acknowledged erasure it is gone.
func TestCheckLeadKeys(t *testing.T) {
	for what, test := range map[string]struct {
		change  func(w *world)
		finding string
	}{
		"as it was":               {func(*world) {}, ""},
		"a key that nobody used":  {func(w *world) { w.put(3, 9) }, ""},
		"one of a later entry":    {func(w *world) { w.put(1, 9); w.life.log.index.sealed[0].seq = 99 }, ""},
		"dropped, and not told":   {func(w *world) { w.put(2, 9); w.life.acks = nil }, ""},
		"an unfinished file":      {func(w *world) { w.copy(w.keys(), w.path("keys", "leads", "unfinished"), 50) }, ""},
		"another key":             {func(w *world) { w.put(1, 9) }, "entry 3 is encrypted with the key of slot 1"},
		"zeros for a key":         {func(w *world) { w.put(1, 0) }, "which is lost"},
		"no file":                 {func(w *world) { w.remove(w.keys()) }, "which is lost"},
		"half a file":             {func(w *world) { w.edit(w.keys(), func(b []byte) []byte { return b[:10] }) }, "which is lost"},
		"told, and the key there": {func(w *world) { w.put(2, 9) }, "entry 9 drops the key of slot 2"},
		"told in a life before":   {func(w *world) { w.put(2, 9); w.life.acks, w.life.promisesBefore.erasures = nil, 1 }, "(acknowledged), but"},
	} {
		t.Run(what, func(t *testing.T) {
			w := worldWithLeadKeys(t)
			test.change(w)
			err := w.findings()
			if (err == nil) != (test.finding == "") || err != nil && !strings.Contains(err.Error(), test.finding) {
				t.Errorf("found: %v", err)
			}
		})
	}
}

// put sets a slot's key.
func (w *world) put(slot int, value byte) {
	w.edit(w.keys(), func(keys []byte) []byte {
		for i := range leadkeys.KeySize {
			keys[(slot-1)*leadkeys.KeySize+i] = value
		}
		return keys
	})
}

// The entry that drops the key is promised.
func TestPromisesIncludeErasures(t *testing.T) {
	l := &lifetime{log: &writtenLog{index: logIndex{erased: []erasure{{seq: 4}, {seq: 7}}}}}
	l.acks = []ack{{tick: 10, isErasure: true, revision: -1}, {tick: 20, isErasure: true, revision: -1}, {tick: 30, isErasure: true, revision: -1}}
	for tick, want := range map[int]uint64{9: 0, 10: 4, 20: 7, 30: 7} {
		if got := l.promisesAt(tick); got.seq != want {
			t.Errorf("tick %d: entry %d, want %d", tick, got.seq, want)
		}
	}
	l.promisesBefore.erasures, l.acks = 1, l.acks[:1]
	if got := l.promisesAt(10); got != (promises{seq: 7, erasures: 2}) {
		t.Errorf("the first of a later life: %+v", got)
	}
}
