package state

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// That a replay comes to what serving came to is what every test of a history
// shows: they all replay through it.

// What is gathered is applied in the log's order, whatever is looked at before:
// two leads of one batch may have one key.
func TestReplayGathersWhatConcernsOneRow(t *testing.T) {
	w := newWorld()
	for n := range uint64(3 * replayAhead) {
		lead := soldLead(n)
		lead.Idempotency.Key = [16]byte{byte(n % 5)}
		lead.Sale.Duplicates[0].Key = market.DuplicateKey{byte(n % 7)}
		w.fact(lead)
	}
	again := New()
	replay(again, w.log, w.seq)
	seq, hash := again.Hash()
	if wantSeq, want := w.Hash(); seq != wantSeq || hash != want {
		t.Errorf("at %d another state than the one that was served at %d", seq, wantSeq)
	}
}

// An entry counts when it is flushed, and not before.
func TestReplayAppliesAtFlush(t *testing.T) {
	w := newWorld()
	again := New()
	waiting := again.NewLogReplay()
	for i, entry := range w.log {
		if more, err := waiting.QueueEntry(uint64(i+1), entry.at, entry.data); err != nil || !more {
			t.Fatalf("entry %d: %v, room for more: %v", i+1, err, more)
		}
		if seq, _ := again.Position(); seq != 0 {
			t.Fatalf("entry %d was applied before its flush", seq)
		}
	}
	waiting.ApplyQueuedEntries()
	waiting.ApplyQueuedEntries() // has nothing to do
	if seq, _ := again.Position(); seq != w.seq {
		t.Errorf("at %d, want %d", seq, w.seq)
	}
}

func TestReplayHasRoomForSoMany(t *testing.T) {
	s := New()
	waiting := s.NewLogReplay()
	data := event.AppendRecord(nil, soldLead(1))
	for n := range replayAhead {
		more, err := waiting.QueueEntry(uint64(n+1), monday, data)
		if err != nil || more != (n+1 < replayAhead) {
			t.Errorf("after %d of %d entries: %v, %v", n+1, replayAhead, more, err)
		}
	}
}

func TestReplayNamesTheEntryThatIsBad(t *testing.T) {
	s := New()
	waiting := s.NewLogReplay()
	for data, want := range map[string]error{"\xff\xff": nil, "\x08\x7f\x10\x01": event.ErrUnknown} {
		_, err := waiting.QueueEntry(71, monday, []byte(data))
		if err == nil || !strings.Contains(err.Error(), "entry 71") || (want != nil && !errors.Is(err, want)) {
			t.Errorf("%x: %v", data, err)
		}
	}
	waiting.ApplyQueuedEntries()
	if seq, _ := s.Position(); seq != 0 {
		t.Errorf("a bad entry was applied: at %d", seq)
	}
}

// To look changes nothing: neither what there is, nor what comes of later facts.
func TestLookChangesNothing(t *testing.T) {
	w, looked := newWorld(), newWorld()
	for n := range uint64(300) {
		lead := soldLead(n)
		for _, key := range []*[16]byte{(*[16]byte)(&lead.Lead), &lead.Idempotency.Key, (*[16]byte)(&lead.Sale.Duplicates[0].Key)} {
			key[14], key[15] = 0, 1 // one shard for all: slabs of some chunks
		}
		settled := &event.PostSettled{Lead: lead.Lead, Settlement: event.SettledDelivered}
		for range 3 {
			looked.PrefetchIntoCPUCache(lead)
			looked.PrefetchIntoCPUCache(settled)
			looked.PrefetchIntoCPUCache(&event.PausedOrResumed{})
		}
		w.fact(lead)
		looked.fact(lead)
		_, want := w.Hash()
		if _, hash := looked.Hash(); hash != want {
			t.Fatalf("after %d leads another state where facts were looked at", n+1)
		}
		if got, _ := looked.Lead(lead.Lead); got.Seq != looked.seq || got.ID != lead.Lead {
			t.Fatalf("lead %d is not what it was", n)
		}
	}
	for i := range shardCount {
		if !slices.Equal(w.leads[i].table.rows.appendRowsTo(nil), looked.leads[i].table.rows.appendRowsTo(nil)) ||
			!slices.Equal(w.idempotency[i].table.rows.appendRowsTo(nil), looked.idempotency[i].table.rows.appendRowsTo(nil)) ||
			!slices.Equal(w.duplicates[i].table.rows.appendRowsTo(nil), looked.duplicates[i].table.rows.appendRowsTo(nil)) {
			t.Errorf("other rows in shard %d where facts were looked at", i)
		}
	}
}
