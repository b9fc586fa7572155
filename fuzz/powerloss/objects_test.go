package main

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// An acknowledgement names the created object.
func TestCreatedObject(t *testing.T) {
	for text, want := range map[string]string{
		created(`{"name":"work_7","role":"viewer","created_at":"2026-01-01T00:00:00Z","last_seen":null}`): "user work_7",
		fine(`{"etag":"0a1b","changes":["+ buyers[work_8]: {\"id\":\"work_8\"}"],"unapplied":[]}`):        "buyer work_8",
		fine(`{"etag":"0a1b","changes":["+ suppression_lists[work_list]: {}"],"unapplied":[]}`):           "",
		fine(`{"entries":9,"duplicates":0,"skipped":0}`):                                                  "list of 9",
		forbidden(`{"name":"work_7"}`):                        "",
		fine(`{"users":[{"name":"work_7","role":"viewer"}]}`): "",
	} {
		found, err := parseMessages([]byte(text), 40)
		made := ""
		if len(found) > 0 {
			made = found[0].created
		}
		if err != nil || made != want {
			t.Errorf("%q: %q, %v; want %q", text, made, err, want)
		}
	}
}

// Users and lists are found by their event, buyers by the configuration after their name.
func TestLogIndexFindsCreatedObjects(t *testing.T) {
	var f logIndex
	f.init()
	buyer := func(ref market.PermanentNumber, id string) *event.ConfigObjectNumbersAssigned {
		return &event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectBuyer, Ref: ref, ID: id}}}
	}
	for i, fact := range []event.Event{
		buyer(1, "work_1"), &event.ConfigActivated{Version: 2}, &event.UserAccountChanged{Name: "work_2"}, &event.SuppressionListContentLoaded{Entries: 3},
		buyer(2, "work_4"), buyer(3, "other"), &event.UserAccountChanged{Name: "work_5"},
	} {
		f.add(uint64(i+1), fact)
	}
	for made, want := range map[string]uint64{"buyer work_1": 2, "user work_2": 3, "list of 3": 4, "user work_5": 7, "buyer work_4": 0, "buyer other": 0} {
		if f.seqByCreated[made] != want {
			t.Errorf("%s: entry %d, want %d", made, f.seqByCreated[made], want)
		}
	}
	l := &lifetime{log: &writtenLog{index: f}}
	l.acks = []ack{{tick: 10, created: "user work_2", revision: -1}, {tick: 20, created: "list of 3", revision: -1}}
	for tick, want := range map[int]uint64{9: 0, 10: 3, 20: 4} {
		if got := l.promisesAt(tick); got.seq != want {
			t.Errorf("tick %d: entry %d, want %d", tick, got.seq, want)
		}
	}
	if err := l.checkWithoutLoss(); err != nil {
		t.Error(err)
	}
	l.acks = append(l.acks, ack{tick: 30, created: "buyer work_4", revision: -1})
	if err := l.checkWithoutLoss(); err == nil {
		t.Error("a buyer was told to be made, and is in no configuration")
	}
}
