package state

import (
	"fmt"
	"testing"

	"pingpost/engine/event"
)

func (x *testExchange) activateConfig(version uint32, from event.ConfigOrigin) {
	x.at += second
	x.logAndApply(&event.ConfigActivated{
		Version: version, Document: fmt.Sprint("d", version), Overlay: fmt.Sprint("o", version), By: fmt.Sprint("b", version), From: from,
	})
}

// TestRevisionsKeepLastThousand checks that the live, the replayed and the loaded state keep the
// last MaxRevisions configurations and the one before them.
func TestRevisionsKeepLastThousand(t *testing.T) {
	x := newTestExchange()
	if got := x.ConfigRevisions(); len(got) != 0 {
		t.Errorf("revisions %+v before the first configuration, want none", got)
	}
	for version := uint32(1); version <= MaxRevisions+5; version++ {
		x.activateConfig(version, event.FromAPI)
		if version > 3 && version < MaxRevisions {
			continue
		}
		for name, s := range map[string]*State{"live": x.State, "replayed": restoreFromLog(x), "loaded": restoreFromSnapshot(t, x.State)} {
			got := s.ConfigRevisions()
			want := ConfigRevision{ConfigVersion{version, fmt.Sprint("d", version), fmt.Sprint("o", version)}, x.at, fmt.Sprint("b", version), event.FromAPI}
			if len(got) != int(min(version, MaxRevisions+1)) || got[0] != want || s.CurrentConfigVersion() != want.ConfigVersion {
				t.Fatalf("%s, version %d: %d revisions, the newest %+v", name, version, len(got), got[0])
			}
			if oldest := got[len(got)-1].Version; oldest != max(1, version-min(version-1, MaxRevisions)) {
				t.Errorf("%s, version %d: the oldest revision is %d", name, version, oldest)
			}
		}
	}
	got := x.ConfigRevisions()
	got[0].By = "the caller's own"
	if x.ConfigRevisions()[0] == got[0] {
		t.Error("ConfigRevisions returns the state's own list, want a copy")
	}
}

// TestHashCoversRevisions checks that author, origin and time of a revision count in the hash,
// and that an event of an earlier version, without these fields, has the hash that it had there.
func TestHashCoversRevisions(t *testing.T) {
	hash := func(at int64, e event.ConfigActivated) uint64 {
		x := newTestExchange()
		x.at += at
		x.logAndApply(&e)
		_, hash := x.Hash()
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
			t.Errorf("a change of %s gives the hash of %s", name, was)
		}
		seen[hash(0, other)] = name
	}
	if hash(1, e) == hash(0, e) {
		t.Error("the hash does not cover the time")
	}
	old := event.ConfigActivated{Version: 1, Document: "d"}
	if hash(0, old) != hash(1, old) {
		t.Error("the hash of an earlier version's event has changed")
	}
}
