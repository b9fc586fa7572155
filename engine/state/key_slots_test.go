package state

import (
	"bytes"
	"slices"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// erase erases what a lead or two were, those of open posts aside.
func (w *trader) erase() {
	fact := &event.LeadsErased{At: w.at}
	for range w.draw(3) {
		if len(w.came) == 0 {
			break
		}
		lead := w.came[w.draw(len(w.came))]
		if post := w.UnfinishedPost(lead); post == nil || post.Exhausted {
			fact.Leads, fact.Slots = append(fact.Leads, lead), append(fact.Slots, uint64(1+w.draw(40)))
		}
	}
	w.fact(fact)
}

// sealed is a lead on its way to a buyer, under the key of a slot.
func sealed(slot uint64) *event.LeadDecided {
	return &event.LeadDecided{
		Lead: history, Campaign: 1, Supplier: 1, Decided: monday, Keep: monday + 90*day, Sale: red,
		Post: event.PostIntent{URL: "https://buyer.example/v1/post"}, Slot: slot, Sealed: []byte("a person"),
	}
}

// TestHighestSlot: a start goes on above every slot that any fact has named, in
// whatever order they came, and also where the leads have left memory.
func TestHighestSlot(t *testing.T) {
	w := newWorld()
	if got := w.HighestEncryptionKeySlot(); got != 0 {
		t.Errorf("%d before any lead", got)
	}
	for _, step := range []struct {
		fact event.Event
		want uint64
	}{
		{&event.LeadDecided{Lead: w.id(), Slot: 7, Keep: w.at}, 7},
		{&event.LeadDecided{Lead: w.id(), Slot: 5, Keep: w.at}, 7},
		{&event.LeadDecided{Lead: w.id(), Keep: w.at}, 7},
		{&event.LeadDecided{Lead: w.id(), Slot: 70_000, Keep: w.at}, 70_000},
		{&event.LeadsErased{Slots: []uint64{90_000}, Leads: []market.LeadID{w.id()}}, 90_000},
	} {
		w.fact(step.fact)
		for name, s := range map[string]*State{"live": w.State, "replayed": replayed(w), "loaded": loaded(t, w.State)} {
			if got := s.HighestEncryptionKeySlot(); got != step.want {
				t.Errorf("%s: %d after %+v, want %d", name, got, step.fact, step.want)
			}
		}
	}
}

func replayed(w *world) *State {
	s := New()
	replay(s, w.log, w.seq)
	return s
}

// TestErasedSlots: they are known ascending and once, however often they are erased,
// to a replay and to a snapshot as to the process itself; and each counts in the hash.
func TestErasedSlots(t *testing.T) {
	w := newWorld()
	w.fact(&event.LeadDecided{Lead: w.id(), Slot: 100, Keep: w.at})
	_, before := w.Hash()
	var hashes []uint64
	for _, slots := range [][]uint64{{9}, {3, 100}, {9, 3}, {}} {
		leads := make([]market.LeadID, len(slots))
		w.fact(&event.LeadsErased{Slots: slots, Leads: leads})
		_, hash := w.Hash()
		hashes = append(hashes, hash)
	}
	if hashes[0] == before || hashes[1] == hashes[0] {
		t.Error("an erased slot does not count in the hash")
	}
	if hashes[2] != hashes[1] || hashes[3] != hashes[1] {
		t.Error("erased again it is another state")
	}
	for name, s := range map[string]*State{"live": w.State, "replayed": replayed(w), "loaded": loaded(t, w.State)} {
		if got := s.ErasedEncryptionKeySlots(); !slices.Equal(got, []uint64{3, 9, 100}) {
			t.Errorf("%s: %v", name, got)
		}
		for slot, want := range map[uint64]bool{0: false, 2: false, 3: true, 9: true, 99: false, 100: true, 101: false} {
			if s.IsEncryptionKeySlotErased(slot) != want {
				t.Errorf("%s: slot %d erased is %v", name, slot, !want)
			}
		}
	}
}

// TestErasedPost: of a delivery that nobody knows the fate of, what was to be sent is
// gone, from memory and from the next snapshot; all else of it stays.
func TestErasedPost(t *testing.T) {
	w := newWorld()
	fact := sealed(12)
	w.fact(fact)
	if post := w.UnfinishedPost(history); post == nil || post.Slot != 12 || string(post.Body) != "a person" || post.IsPersonalDataErased() {
		t.Fatalf("%+v", post)
	}
	w.fact(&event.PostSettled{Lead: history, Settlement: event.SettledUnknown, Sale: fact.Sale})
	w.fact(&event.LeadsErased{Slots: []uint64{12}, Leads: []market.LeadID{history}})
	for name, s := range map[string]*State{"live": w.State, "replayed": replayed(w), "loaded": loaded(t, w.State)} {
		post := s.UnfinishedPost(history)
		if post == nil || !post.Exhausted || !post.IsPersonalDataErased() || post.Slot != 12 || post.Intent.URL == "" {
			t.Errorf("%s: %+v", name, post)
		}
		var snapshot bytes.Buffer
		if _, _, err := s.WriteSnapshot(&snapshot); err != nil || bytes.Contains(snapshot.Bytes(), []byte("a person")) {
			t.Errorf("%s: the snapshot has the person: %v", name, err)
		}
	}
	w.fact(&event.PostSettled{Lead: history, Settlement: event.SettledConfirmed, Sale: fact.Sale})
	if w.UnfinishedPost(history) != nil {
		t.Error("it could not be settled")
	}
}

// TestNextIntentHasItsSlot: what the second buyer is sent is opened by the slot that
// its own fact names.
func TestNextIntentHasItsSlot(t *testing.T) {
	w := newWorld()
	first := sealed(12)
	w.fact(first)
	w.fact(&event.PostSettled{
		Lead: history, Settlement: event.SettledRefused, Sale: first.Sale, Next: event.Sale{Buyer: 2, Price: dollar},
		Post: event.PostIntent{URL: "https://other.example/"}, Slot: 12, Sealed: []byte("the other body"),
	})
	for name, s := range map[string]*State{"live": w.State, "replayed": replayed(w), "loaded": loaded(t, w.State)} {
		if post := s.UnfinishedPost(history); post == nil || post.Slot != 12 || string(post.Body) != "the other body" {
			t.Errorf("%s: %+v", name, post)
		}
	}
}
