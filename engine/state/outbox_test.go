package state

import (
	"encoding/binary"
	"slices"
	"testing"
	"unsafe"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// desk is a world and what one supplier is told.
type desk struct{ *world }

func newDesk() desk { return desk{newWorld()} }

// spread is the n-th of a sequence of identifiers without a pattern.
func spread(n uint64) (id [16]byte) {
	mix := func(x uint64) uint64 {
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	binary.LittleEndian.PutUint64(id[:], mix(n*2+1))
	binary.LittleEndian.PutUint64(id[8:], mix(n*2+2))
	return id
}

// owes puts a hook in, by a report.
func (d desk) owes(lead byte, kinds ...market.WebhookType) {
	for _, kind := range kinds {
		d.fact(&event.LeadStatusesChanged{Changes: []event.LeadStatusChange{{Lead: market.LeadID{lead}, Supplier: 1, Webhook: kind}}})
	}
}

// take takes what is due, and says which.
func (d desk) take(t *testing.T) QueuedWebhook {
	t.Helper()
	h, ok := d.ClaimDueWebhook(1, d.at)
	if !ok {
		t.Fatalf("nothing is due; the standing is %+v", d.OutboxStatus(1))
	}
	return h
}

func (d desk) came(h QueuedWebhook, outcome event.WebhookOutcome, later int64) {
	d.fact(&event.WebhookAttempted{
		Lead: h.Lead, Type: h.Type, Supplier: h.Supplier, Attempt: h.Attempts + 1, Outcome: outcome, At: d.at, Due: d.at + later,
	})
}

// Every fact that can owe a supplier something does, at once.
func TestFactsOweHooks(t *testing.T) {
	hooked := func(fact event.Event, hook market.WebhookType) event.Event {
		switch e := fact.(type) {
		case *event.LeadDecided:
			e.Webhook = hook
		case *event.PostSettled:
			e.Webhook, e.Supplier = hook, 1
		case *event.LeadStatusesChanged:
			e.Changes[0].Webhook = hook
		}
		return fact
	}
	for name, facts := range map[string][]event.Event{
		"nobody took it":       {hooked(decided(event.Sale{}, event.PostIntent{}, market.ReasonNoBuyer), market.WebhookUnmatched)},
		"it is recorded":       {hooked(decided(red, event.PostIntent{}, 0), market.WebhookPosted)},
		"it is delivered":      {decided(red, way, 0), hooked(settled(event.SettledDelivered, red), market.WebhookPosted)},
		"it is refused":        {decided(red, way, 0), hooked(refused(event.Sale{}, event.PostIntent{}), market.WebhookPostFailed)},
		"a test is recorded":   {hooked(decided(asTest(red), event.PostIntent{}, 0), market.WebhookPosted)},
		"a test is delivered":  {decided(asTest(red), way, 0), hooked(settled(event.SettledDelivered, asTest(red)), market.WebhookPosted)},
		"its buyer reports it": {decided(red, event.PostIntent{}, 0), hooked(reported(event.ChangeDone, market.StatusSold, event.ResourcesFreedByReturn{}), market.WebhookSold)},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk()
			for _, fact := range facts {
				if suppliers := d.SuppliersWithPendingWebhooks(); len(suppliers) > 0 {
					t.Fatalf("%v are owed something before the cause", suppliers)
				}
				d.fact(fact)
			}
			for what, s := range map[string]*State{"live": d.State, "after a snapshot": rowsAhead(t, d.world)} {
				h, ok := s.ClaimDueWebhook(1, d.at)
				if !ok || h.Lead != history || h.Cause != d.seq || h.Created != d.at || h.Due != d.at || h.Supplier != 1 || h.Attempts != 0 {
					t.Errorf("%s: %+v, %t", what, h, ok)
				}
			}
			select {
			case <-d.WebhooksChanged():
			default:
				t.Error("nobody was told")
			}
		})
	}
}

// Whoever has no webhook costs nothing: there is not even an outbox.
func TestWhoWantsNoHooksHasNoOutbox(t *testing.T) {
	d := newDesk()
	d.fact(decided(red, way, 0))
	d.fact(settled(event.SettledDelivered, red))
	d.fact(reported(event.ChangeDone, market.StatusSold, event.ResourcesFreedByReturn{}))
	if d.outboxes.all() != nil {
		t.Error("there is an outbox")
	}
	if n := testing.AllocsPerRun(100, func() { d.enqueueWebhook(d.seq+1, d.at, 1, history, market.WebhookNone) }); n != 0 {
		t.Errorf("%v allocations for nothing", n)
	}
}

// What was taken and not tried is due as it was.
func TestAReturnedHookIsDueAgain(t *testing.T) {
	d := newDesk()
	d.owes(1, market.WebhookPosted)
	_, before := d.Hash()
	h := d.take(t)
	if standing := d.OutboxStatus(1); standing.InFlight != 1 || standing.Pending != 1 {
		t.Errorf("%+v", standing)
	}
	if h, ok := d.ClaimDueWebhook(1, d.at); ok {
		t.Fatalf("%+v is taken twice", h)
	}
	<-d.WebhooksChanged()
	d.UnclaimWebhook(h)
	select {
	case <-d.WebhooksChanged():
	default:
		t.Error("nobody was told that it is due again")
	}
	if again := d.take(t); again != h {
		t.Errorf("%+v, before %+v", again, h)
	}
	if _, after := d.Hash(); after != before {
		t.Error("a mark is in the hash")
	}
}

// Dead letters are bounded in number and in age; the oldest go, and are counted.
func TestDeadLettersAreBounded(t *testing.T) {
	d := newDesk()
	d.outboxes.maxDead = 3
	for n := range byte(5) {
		d.owes(n, market.WebhookPosted)
		d.came(d.take(t), event.WebhookDead, 0)
		d.at += hour
	}
	leads := func(dead []QueuedWebhook) (leads []byte) {
		for _, h := range dead {
			leads = append(leads, h.Lead[0])
		}
		return leads
	}
	if got := leads(d.ListDeadLetters(1, 0, 10)); !slices.Equal(got, []byte{2, 3, 4}) || d.OutboxStatus(1).Dropped != 2 {
		t.Errorf("%v, %+v", got, d.OutboxStatus(1))
	}
	for _, page := range []struct {
		after, limit int
		want         []byte
	}{{0, 1, []byte{2}}, {1, 1, []byte{3}}, {2, 5, []byte{4}}, {3, 5, nil}, {9, 9, nil}, {-1, 2, []byte{2, 3}}, {0, -1, nil}} {
		if got := leads(d.ListDeadLetters(1, page.after, page.limit)); !slices.Equal(got, page.want) {
			t.Errorf("%d after %d: %v", page.limit, page.after, got)
		}
	}
	d.at += 30*day - hour
	d.owes(9, market.WebhookPosted)
	if got := d.OutboxStatus(1); got.Dead != 1 || got.Dropped != 4 || got.Pending != 1 {
		t.Errorf("a month later %+v", got)
	}
	if d.ListDeadLetters(2, 0, 1) != nil {
		t.Error("who has no outbox has dead letters")
	}
}

// A burst does not hold its memory for ever.
func TestAnEmptyOutboxGivesItsMemoryBack(t *testing.T) {
	d := newDesk()
	for n := range uint64(3000) {
		d.fact(&event.LeadStatusesChanged{Changes: []event.LeadStatusChange{{Lead: spread(n), Supplier: 1, Webhook: market.WebhookSold}}})
	}
	for range 3000 {
		d.came(d.take(t), event.WebhookDelivered, 0)
	}
	b := d.outboxes.get(1)
	if b.rows.n != 0 || b.firstRow != nil || len(b.rows.chunks)+len(b.due.chunks) > 4 || b.sum != 0 {
		t.Errorf("%d rows, %d and %d chunks, sum %d", b.rows.n, len(b.rows.chunks), len(b.due.chunks), b.sum)
	}
}

func TestRowsStaySmall(t *testing.T) {
	for name, size := range map[string][2]uintptr{
		"an auction": {unsafe.Sizeof(AuctionRow{}), 48},
		"a key":      {unsafe.Sizeof(idempotencyRow{}), 48},
		"a lead":     {unsafe.Sizeof(Lead{}), 96},
		"a webhook":  {unsafe.Sizeof(webhookRow{}), 56},
	} {
		if size[0] > size[1] {
			t.Errorf("%s takes %d bytes, took %d", name, size[0], size[1])
		}
	}
}

// What a snapshot's outbox has seen already is not applied to it again, when the
// rest of the snapshot is older.
func TestAnOutboxAheadOfTheLog(t *testing.T) {
	failed := &event.WebhookAttempted{Lead: market.LeadID{1}, Type: market.WebhookPosted, Supplier: 1, Attempt: 1, Outcome: event.WebhookFailed, At: monday}
	for name, facts := range map[string][]event.Event{
		"it failed, and was switched on": {failed, &event.SupplierWebhooksTurnedOnOrOff{Supplier: 1}},
		"it was off, and failed":         {&event.SupplierWebhooksTurnedOnOrOff{Supplier: 1, Off: true}, &event.SupplierWebhooksTurnedOnOrOff{Supplier: 1}, failed},
		"it was delivered":               {&event.WebhookAttempted{Lead: market.LeadID{1}, Type: market.WebhookPosted, Supplier: 1, Outcome: event.WebhookDelivered}},
	} {
		d := newDesk()
		d.owes(1, market.WebhookPosted)
		for _, fact := range facts {
			d.fact(fact)
		}
		ahead := rowsAhead(t, d.world)
		if got, want := ahead.OutboxStatus(1), d.OutboxStatus(1); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if _, hash := ahead.Hash(); hash != func() uint64 { _, h := d.Hash(); return h }() {
			t.Errorf("%s: another state", name)
		}
	}
}
