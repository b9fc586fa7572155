package state

import (
	"bytes"
	"slices"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// eraseLeads erases up to two leads without open posts.
func (x *eventGenerator) eraseLeads() {
	ev := &event.PersonalDataOfLeadsErased{At: x.at}
	for range x.draw(3) {
		if len(x.leads) == 0 {
			break
		}
		lead := x.leads[x.draw(len(x.leads))]
		if post := x.UnfinishedPost(lead); post == nil || post.Exhausted {
			ev.Leads, ev.Slots = append(ev.Leads, lead), append(ev.Slots, uint64(1+x.draw(40)))
		}
	}
	x.logAndApply(ev)
}

// sealedIntent returns the decision to post a lead that is encrypted under the key of a slot.
func sealedIntent(slot uint64) *event.LeadDecided {
	return &event.LeadDecided{
		Lead: testLead, Campaign: 1, Supplier: 1, Decided: monday, Keep: monday + 90*day, Sale: redSale,
		Post: event.PostIntent{URL: "https://buyer.example/v1/post"}, Slot: slot, Sealed: []byte("a person"),
	}
}

// TestHighestKeySlotCoversAllEvents checks that a start continues above every slot of any event,
// in any order, also after its lead has left memory.
func TestHighestKeySlotCoversAllEvents(t *testing.T) {
	x := newTestExchange()
	if got := x.HighestEncryptionKeySlot(); got != 0 {
		t.Errorf("highest slot %d before any lead, want 0", got)
	}
	for _, step := range []struct {
		event event.Event
		want  uint64
	}{
		{&event.LeadDecided{Lead: x.newID(), Slot: 7, Keep: x.at}, 7},
		{&event.LeadDecided{Lead: x.newID(), Slot: 5, Keep: x.at}, 7},
		{&event.LeadDecided{Lead: x.newID(), Keep: x.at}, 7},
		{&event.LeadDecided{Lead: x.newID(), Slot: 70_000, Keep: x.at}, 70_000},
		{&event.PersonalDataOfLeadsErased{Slots: []uint64{90_000}, Leads: []market.LeadID{x.newID()}}, 90_000},
	} {
		x.logAndApply(step.event)
		for name, s := range map[string]*State{"live": x.State, "replayed": restoreFromLog(x), "loaded": restoreFromSnapshot(t, x.State)} {
			if got := s.HighestEncryptionKeySlot(); got != step.want {
				t.Errorf("%s: highest slot %d after %+v, want %d", name, got, step.event, step.want)
			}
		}
	}
}

func restoreFromLog(x *testExchange) *State {
	s := New()
	replay(s, x.log, x.seq)
	return s
}

// TestErasedKeySlotsAreSortedAndUnique erases slots repeatedly. The live, the replayed and the
// loaded state list each slot once, in ascending order, and each slot counts in the hash.
func TestErasedKeySlotsAreSortedAndUnique(t *testing.T) {
	x := newTestExchange()
	x.logAndApply(&event.LeadDecided{Lead: x.newID(), Slot: 100, Keep: x.at})
	_, before := x.Hash()
	var hashes []uint64
	for _, slots := range [][]uint64{{9}, {3, 100}, {9, 3}, {}} {
		leads := make([]market.LeadID, len(slots))
		x.logAndApply(&event.PersonalDataOfLeadsErased{Slots: slots, Leads: leads})
		_, hash := x.Hash()
		hashes = append(hashes, hash)
	}
	if hashes[0] == before || hashes[1] == hashes[0] {
		t.Error("an erased slot does not count in the hash")
	}
	if hashes[2] != hashes[1] || hashes[3] != hashes[1] {
		t.Error("a repeated erasure changes the hash")
	}
	for name, s := range map[string]*State{"live": x.State, "replayed": restoreFromLog(x), "loaded": restoreFromSnapshot(t, x.State)} {
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

// TestErasureRemovesBodyOfUnknownDelivery checks that the erasure of an unconfirmed delivery
// removes its body from memory and from the next snapshot, and keeps the rest.
func TestErasureRemovesBodyOfUnknownDelivery(t *testing.T) {
	x := newTestExchange()
	ev := sealedIntent(12)
	x.logAndApply(ev)
	if post := x.UnfinishedPost(testLead); post == nil || post.Slot != 12 || string(post.Body) != "a person" || post.IsPersonalDataErased() {
		t.Fatalf("%+v", post)
	}
	x.logAndApply(&event.PostSettled{Lead: testLead, Settlement: event.SettledUnknown, Sale: ev.Sale})
	x.logAndApply(&event.PersonalDataOfLeadsErased{Slots: []uint64{12}, Leads: []market.LeadID{testLead}})
	for name, s := range map[string]*State{"live": x.State, "replayed": restoreFromLog(x), "loaded": restoreFromSnapshot(t, x.State)} {
		post := s.UnfinishedPost(testLead)
		if post == nil || !post.Exhausted || !post.IsPersonalDataErased() || post.Slot != 12 || post.Intent.URL == "" {
			t.Errorf("%s: %+v", name, post)
		}
		var snapshot bytes.Buffer
		if _, _, err := s.WriteSnapshot(&snapshot, nil); err != nil || bytes.Contains(snapshot.Bytes(), []byte("a person")) {
			t.Errorf("%s: the snapshot has personal data: %v", name, err)
		}
	}
	x.logAndApply(&event.PostSettled{Lead: testLead, Settlement: event.SettledConfirmed, Sale: ev.Sale})
	if x.UnfinishedPost(testLead) != nil {
		t.Error("the erased post was not settled")
	}
}

// TestNextIntentKeepsItsKeySlot checks that the post to the second buyer has the slot and the
// body of its own event.
func TestNextIntentKeepsItsKeySlot(t *testing.T) {
	x := newTestExchange()
	first := sealedIntent(12)
	x.logAndApply(first)
	x.logAndApply(&event.PostSettled{
		Lead: testLead, Settlement: event.SettledRefused, Sale: first.Sale, Next: event.Sale{Buyer: 2, Price: dollar},
		Post: event.PostIntent{URL: "https://other.example/"}, Slot: 12, Sealed: []byte("the other body"),
	})
	for name, s := range map[string]*State{"live": x.State, "replayed": restoreFromLog(x), "loaded": restoreFromSnapshot(t, x.State)} {
		if post := s.UnfinishedPost(testLead); post == nil || post.Slot != 12 || string(post.Body) != "the other body" {
			t.Errorf("%s: %+v", name, post)
		}
	}
}
