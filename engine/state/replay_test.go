package state

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// All tests that compare a replay with the live state use LogReplay. Here, leads of one batch
// share keys, so their order counts.
func TestReplayAppliesBatchInLogOrder(t *testing.T) {
	x := newTestExchange()
	for n := range uint64(3 * replayQueueEntries) {
		lead := soldLead(n)
		lead.Idempotency.Key = [16]byte{byte(n % 5)}
		lead.Sale.Duplicates[0].Key = market.DuplicateKey{byte(n % 7)}
		x.logAndApply(lead)
	}
	restored := New()
	replay(restored, x.log, x.seq)
	seq, hash := restored.Hash()
	if wantSeq, want := x.Hash(); seq != wantSeq || hash != want {
		t.Errorf("the replayed state at %d differs from the live state at %d", seq, wantSeq)
	}
}

func TestReplayAppliesEntriesAtFlush(t *testing.T) {
	x := newTestExchange()
	restored := New()
	queue := restored.NewLogReplay()
	for i, entry := range x.log {
		if more, err := queue.QueueEntry(uint64(i+1), entry.at, entry.data); err != nil || !more {
			t.Fatalf("entry %d: %v, accepts more: %v", i+1, err, more)
		}
		if seq, _ := restored.Position(); seq != 0 {
			t.Fatalf("entry %d was applied before its flush", seq)
		}
	}
	queue.ApplyQueuedEntries()
	queue.ApplyQueuedEntries() // the queue is empty
	if seq, _ := restored.Position(); seq != x.seq {
		t.Errorf("position %d, want %d", seq, x.seq)
	}
}

func TestReplayQueueLimit(t *testing.T) {
	s := New()
	queue := s.NewLogReplay()
	data := event.AppendRecord(nil, soldLead(1))
	for n := range replayQueueEntries {
		more, err := queue.QueueEntry(uint64(n+1), monday, data)
		if err != nil || more != (n+1 < replayQueueEntries) {
			t.Errorf("after %d of %d entries: %v, %v", n+1, replayQueueEntries, more, err)
		}
	}
}

// Long entries fill a queue by their bytes, and a queue that has grown keeps the data of its first entries.
func TestReplayQueueLimitsBytes(t *testing.T) {
	x := newTestExchange()
	long := soldLead(1)
	long.Sealed = make([]byte, replayQueueBytes/8)
	long.Post = event.PostIntent{URL: "https://buyer.example/post"}
	for n := range uint64(20) {
		long.Lead, long.Idempotency.Key, long.Sealed[0] = soldLead(n).Lead, soldLead(n).Idempotency.Key, byte(n)
		x.logAndApply(long)
	}
	restored := New()
	queue, queued, applied := restored.NewLogReplay(), 0, 0
	for i, entry := range x.log {
		more, err := queue.QueueEntry(uint64(i+1), entry.at, entry.data)
		if queued += len(entry.data); err != nil || more != (queued < replayQueueBytes) {
			t.Fatalf("%d bytes are queued: %v, %v", queued, more, err)
		}
		if !more {
			queue.ApplyQueuedEntries()
			queued = 0
			applied++
		}
	}
	queue.ApplyQueuedEntries()
	seq, hash := restored.Hash()
	if wantSeq, want := x.Hash(); seq != wantSeq || hash != want || applied != 2 {
		t.Errorf("the replayed state at %d after %d full queues differs from the live state at %d", seq, applied, wantSeq)
	}
}

func TestReplayErrorNamesEntry(t *testing.T) {
	s := New()
	queue := s.NewLogReplay()
	for data, want := range map[string]error{"\xff\xff": nil, "\x08\x7f\x10\x01": event.ErrUnknown} {
		_, err := queue.QueueEntry(71, monday, []byte(data))
		if err == nil || !strings.Contains(err.Error(), "entry 71") || (want != nil && !errors.Is(err, want)) {
			t.Errorf("%x: %v", data, err)
		}
	}
	queue.ApplyQueuedEntries()
	if seq, _ := s.Position(); seq != 0 {
		t.Errorf("a malformed entry was applied: position %d", seq)
	}
}

// Prefetching changes neither the rows nor the effects of later events.
func TestPrefetchChangesNothing(t *testing.T) {
	x, prefetched := newTestExchange(), newTestExchange()
	for n := range uint64(300) {
		lead := soldLead(n)
		for _, key := range []*[16]byte{(*[16]byte)(&lead.Lead), &lead.Idempotency.Key, (*[16]byte)(&lead.Sale.Duplicates[0].Key)} {
			key[14], key[15] = 0, 1 // one shard, so that its chunked lists have several chunks
		}
		settled := &event.PostSettled{Lead: lead.Lead, Settlement: event.SettledDelivered}
		for range 3 {
			prefetched.PrefetchIntoCPUCache(lead)
			prefetched.PrefetchIntoCPUCache(settled)
			prefetched.PrefetchIntoCPUCache(&event.CampaignOrBuyerPausedOrResumed{})
		}
		x.logAndApply(lead)
		prefetched.logAndApply(lead)
		_, want := x.Hash()
		if _, hash := prefetched.Hash(); hash != want {
			t.Fatalf("after %d leads the state with prefetching differs", n+1)
		}
		if got, _ := prefetched.LeadInMemory(lead.Lead); got.Seq != prefetched.seq || got.ID != lead.Lead {
			t.Fatalf("lead %d has changed", n)
		}
	}
	for i := range shardCount {
		if !slices.Equal(x.leads[i].table.rows.appendRowsTo(nil), prefetched.leads[i].table.rows.appendRowsTo(nil)) ||
			!slices.Equal(x.idempotency[i].table.rows.appendRowsTo(nil), prefetched.idempotency[i].table.rows.appendRowsTo(nil)) ||
			!slices.Equal(x.duplicates[i].table.rows.appendRowsTo(nil), prefetched.duplicates[i].table.rows.appendRowsTo(nil)) {
			t.Errorf("shard %d: the rows with prefetching differ", i)
		}
	}
}

// TestReplayDropsMemoryOfLongEntries: thousands of decoders would keep the memory of their largest event.
func TestReplayDropsMemoryOfLongEntries(t *testing.T) {
	r := New().NewLogReplay()
	for i, changes := range []int{1000, 1} {
		decided := &event.LeadStatusChangesDecided{Changes: make([]event.DecidedLeadStatusChange, changes)}
		for i := range decided.Changes {
			decided.Changes[i].Lead = market.LeadID{1, byte(i), byte(i >> 8)}
		}
		record := event.AppendRecord(nil, decided)
		if _, err := r.QueueEntry(uint64(i+1), monday, record); err != nil {
			t.Fatal(err)
		}
		r.ApplyQueuedEntries()
		decoder := &r.entries[0].decoder
		decoder.ForReplay = false
		if isEmpty := reflect.ValueOf(decoder).Elem().IsZero(); isEmpty != (changes > 1) {
			t.Errorf("%d changes: the decoder is empty: %v", changes, isEmpty)
		}
	}
}
