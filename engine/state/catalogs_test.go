package state

import (
	"fmt"
	"testing"

	"pingpost/engine/event"
)

func (w *world) configured(version uint32, from event.ConfigOrigin) {
	w.at += second
	w.fact(&event.ConfigActivated{
		Version: version, Document: fmt.Sprint("d", version), Overlay: fmt.Sprint("o", version), By: fmt.Sprint("b", version), From: from,
	})
}

// TestRevisions: the last thousand configurations are remembered, and the one before
// them; by a replay and a snapshot as by the process itself.
func TestRevisions(t *testing.T) {
	w := newWorld()
	if got := w.ConfigRevisions(); len(got) != 0 {
		t.Errorf("%+v before the first", got)
	}
	for version := uint32(1); version <= MaxRevisions+5; version++ {
		w.configured(version, event.FromAPI)
		if version > 3 && version < MaxRevisions {
			continue
		}
		for name, s := range map[string]*State{"live": w.State, "replayed": replayed(w), "loaded": loaded(t, w.State)} {
			got := s.ConfigRevisions()
			want := ConfigRevision{ConfigVersion{version, fmt.Sprint("d", version), fmt.Sprint("o", version)}, w.at, fmt.Sprint("b", version), event.FromAPI}
			if len(got) != int(min(version, MaxRevisions+1)) || got[0] != want || s.CurrentConfigVersion() != want.ConfigVersion {
				t.Fatalf("%s, version %d: %d of them, %+v", name, version, len(got), got[0])
			}
			if oldest := got[len(got)-1].Version; oldest != max(1, version-min(version-1, MaxRevisions)) {
				t.Errorf("%s, version %d: the oldest is %d", name, version, oldest)
			}
		}
	}
	got := w.ConfigRevisions()
	got[0].By = "the caller's own"
	if w.ConfigRevisions()[0] == got[0] {
		t.Error("the state's own list was handed out")
	}
}

// TestTheHashSeesRevisions: who changed what, when and how counts; what an earlier
// program logged counts as it did there.
func TestTheHashSeesRevisions(t *testing.T) {
	hash := func(at int64, e event.ConfigActivated) uint64 {
		w := newWorld()
		w.at += at
		w.fact(&e)
		_, hash := w.Hash()
		return hash
	}
	e := event.ConfigActivated{Version: 1, Document: "d", From: event.FromAPI}
	seen := map[uint64]string{hash(0, e): "itself"}
	for name, change := range map[string]func(*event.ConfigActivated){
		"overlay": func(e *event.ConfigActivated) { e.Overlay = "o" }, "by": func(e *event.ConfigActivated) { e.By = "b" },
		"from": func(e *event.ConfigActivated) { e.From = event.FromFile }, "document": func(e *event.ConfigActivated) { e.Document = "x" },
	} {
		other := e
		change(&other)
		if was := seen[hash(0, other)]; was != "" {
			t.Errorf("another %s has the hash of %s", name, was)
		}
		seen[hash(0, other)] = name
	}
	if hash(1, e) == hash(0, e) {
		t.Error("the time does not count")
	}
	old := event.ConfigActivated{Version: 1, Document: "d"}
	if hash(0, old) != hash(1, old) {
		t.Error("an earlier program's log has another hash than it had there")
	}
}
