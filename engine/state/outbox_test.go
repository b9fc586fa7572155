package state

import (
	"encoding/binary"
	"slices"
	"testing"
	"unsafe"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// outboxTest is a testExchange with one supplier's webhooks.
type outboxTest struct{ *testExchange }

func newOutboxTest() outboxTest { return outboxTest{newTestExchange()} }

// scatteredID returns the n-th of a sequence of identifiers without a pattern.
func scatteredID(n uint64) (id [16]byte) {
	mix := func(x uint64) uint64 {
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	binary.LittleEndian.PutUint64(id[:], mix(n*2+1))
	binary.LittleEndian.PutUint64(id[8:], mix(n*2+2))
	return id
}

// addWebhooks adds webhooks to the outbox by reports.
func (d outboxTest) addWebhooks(lead byte, kinds ...market.WebhookType) {
	for _, kind := range kinds {
		d.logAndApply(&event.LeadStatusChangesDecided{Changes: []event.DecidedLeadStatusChange{{Lead: market.LeadID{lead}, Supplier: 1, Webhook: kind}}})
	}
}

// claim claims the next due webhook.
func (d outboxTest) claim(t *testing.T) OutboxWebhook {
	t.Helper()
	h, ok := d.ClaimDueWebhook(1, d.at)
	if !ok {
		t.Fatalf("no webhook is due; the outbox status is %+v", d.OutboxStatus(1))
	}
	return h
}

func (d outboxTest) logAttempt(h OutboxWebhook, outcome event.WebhookOutcomeOrDecision, retryAfter int64) {
	d.logAndApply(&event.WebhookAttemptedOrDecided{
		Lead: h.Lead, Type: h.Type, Supplier: h.Supplier, Attempt: h.Attempts + 1, Outcome: outcome, At: d.at, Due: d.at + retryAfter,
	})
}

// Every event that can trigger a webhook adds it to the outbox at once.
func TestEventsAddWebhooksToOutbox(t *testing.T) {
	withWebhook := func(ev event.Event, kind market.WebhookType) event.Event {
		switch e := ev.(type) {
		case *event.LeadDecided:
			e.Webhook = kind
		case *event.PostSettled:
			e.Webhook, e.Supplier = kind, 1
		case *event.LeadStatusChangesDecided:
			e.Changes[0].Webhook = kind
		}
		return ev
	}
	for name, events := range map[string][]event.Event{
		"unmatched":             {withWebhook(leadDecided(event.Sale{}, event.PostIntent{}, market.ReasonNoBuyer), market.WebhookUnmatched)},
		"recorded":              {withWebhook(leadDecided(redSale, event.PostIntent{}, 0), market.WebhookPosted)},
		"delivered":             {leadDecided(redSale, intent, 0), withWebhook(postSettled(event.SettledDelivered, redSale), market.WebhookPosted)},
		"refused":               {leadDecided(redSale, intent, 0), withWebhook(postRefused(event.Sale{}, event.PostIntent{}), market.WebhookPostFailed)},
		"test lead recorded":    {withWebhook(leadDecided(asTestSale(redSale), event.PostIntent{}, 0), market.WebhookPosted)},
		"test lead delivered":   {leadDecided(asTestSale(redSale), intent, 0), withWebhook(postSettled(event.SettledDelivered, asTestSale(redSale)), market.WebhookPosted)},
		"reported by its buyer": {leadDecided(redSale, event.PostIntent{}, 0), withWebhook(statusReported(event.ChangeDone, market.StatusSold, event.MoneyAndCapsReversedByReturn{}), market.WebhookSold)},
	} {
		t.Run(name, func(t *testing.T) {
			d := newOutboxTest()
			for _, ev := range events {
				if suppliers := d.SuppliersWithPendingWebhooks(); len(suppliers) > 0 {
					t.Fatalf("suppliers %v have pending webhooks before the event", suppliers)
				}
				d.logAndApply(ev)
			}
			for what, s := range map[string]*State{"live": d.State, "after a snapshot": loadWithNewerRows(t, d.testExchange)} {
				h, ok := s.ClaimDueWebhook(1, d.at)
				if !ok || h.Lead != testLead || h.Cause != d.seq || h.Created != d.at || h.Due != d.at || h.Supplier != 1 || h.Attempts != 0 {
					t.Errorf("%s: %+v, %t", what, h, ok)
				}
			}
			select {
			case <-d.WebhookMayBeDue():
			default:
				t.Error("WebhooksChanged has no notification")
			}
		})
	}
}

// A supplier without webhooks costs no memory.
func TestSupplierWithoutWebhooksHasNoOutbox(t *testing.T) {
	d := newOutboxTest()
	d.logAndApply(leadDecided(redSale, intent, 0))
	d.logAndApply(postSettled(event.SettledDelivered, redSale))
	d.logAndApply(statusReported(event.ChangeDone, market.StatusSold, event.MoneyAndCapsReversedByReturn{}))
	if d.outboxes.all() != nil {
		t.Error("found an outbox, want none")
	}
	if n := testing.AllocsPerRun(100, func() { d.enqueueWebhook(d.seq+1, d.at, 1, testLead, market.WebhookNone) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// A webhook that was claimed and not attempted keeps its due time.
func TestUnclaimedWebhookIsDueAgain(t *testing.T) {
	d := newOutboxTest()
	d.addWebhooks(1, market.WebhookPosted)
	_, before := d.Hash()
	h := d.claim(t)
	if status := d.OutboxStatus(1); status.InFlight != 1 || status.Pending != 1 {
		t.Errorf("status %+v, want 1 in flight and 1 pending", status)
	}
	if h, ok := d.ClaimDueWebhook(1, d.at); ok {
		t.Fatalf("%+v was claimed twice", h)
	}
	<-d.WebhookMayBeDue()
	d.UnclaimWebhook(h)
	select {
	case <-d.WebhookMayBeDue():
	default:
		t.Error("WebhooksChanged has no notification after the unclaim")
	}
	if again := d.claim(t); again != h {
		t.Errorf("claimed %+v, want %+v", again, h)
	}
	if _, after := d.Hash(); after != before {
		t.Error("a claim changes the hash")
	}
}

// Dead letters are limited in number and in age. The oldest go first, and are counted.
func TestDeadLettersAreLimited(t *testing.T) {
	d := newOutboxTest()
	d.outboxes.maxDead = 3
	for n := range byte(5) {
		d.addWebhooks(n, market.WebhookPosted)
		d.logAttempt(d.claim(t), event.WebhookDead, 0)
		d.at += hour
	}
	leads := func(dead []OutboxWebhook) (leads []byte) {
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
			t.Errorf("%d dead letters after %d: got %v", page.limit, page.after, got)
		}
	}
	d.at += 30*day - hour
	d.addWebhooks(9, market.WebhookPosted)
	if got := d.OutboxStatus(1); got.Dead != 1 || got.Dropped != 4 || got.Pending != 1 {
		t.Errorf("outbox status after a month: %+v", got)
	}
	if d.ListDeadLetters(2, 0, 1) != nil {
		t.Error("a supplier without an outbox has dead letters")
	}
}

func TestEmptyOutboxReleasesMemory(t *testing.T) {
	d := newOutboxTest()
	for n := range uint64(3000) {
		d.logAndApply(&event.LeadStatusChangesDecided{Changes: []event.DecidedLeadStatusChange{{Lead: scatteredID(n), Supplier: 1, Webhook: market.WebhookSold}}})
	}
	for range 3000 {
		d.logAttempt(d.claim(t), event.WebhookDelivered, 0)
	}
	b := d.outboxes.get(1)
	if b.rows.n != 0 || b.firstRow != nil || len(b.rows.chunks)+len(b.due.chunks) > 4 || b.sum != 0 {
		t.Errorf("%d rows, %d and %d chunks, sum %d", b.rows.n, len(b.rows.chunks), len(b.due.chunks), b.sum)
	}
}

func TestRowSizes(t *testing.T) {
	for name, size := range map[string][2]uintptr{
		"an auction": {unsafe.Sizeof(AuctionRow{}), 48},
		"a key":      {unsafe.Sizeof(idempotencyRow{}), 48},
		"a lead":     {unsafe.Sizeof(Lead{}), 96},
		"a webhook":  {unsafe.Sizeof(webhookRow{}), 56},
	} {
		if size[0] > size[1] {
			t.Errorf("%s takes %d bytes, want at most %d", name, size[0], size[1])
		}
	}
}

// Replay does not apply events again that the snapshot's outbox already contains.
func TestOutboxNewerThanSnapshotPosition(t *testing.T) {
	failed := &event.WebhookAttemptedOrDecided{Lead: market.LeadID{1}, Type: market.WebhookPosted, Supplier: 1, Attempt: 1, Outcome: event.WebhookFailed, At: monday}
	for name, events := range map[string][]event.Event{
		"failed, then turned on":         {failed, &event.SupplierWebhooksTurnedOnOrOff{Supplier: 1}},
		"turned off and on, then failed": {&event.SupplierWebhooksTurnedOnOrOff{Supplier: 1, Off: true}, &event.SupplierWebhooksTurnedOnOrOff{Supplier: 1}, failed},
		"delivered":                      {&event.WebhookAttemptedOrDecided{Lead: market.LeadID{1}, Type: market.WebhookPosted, Supplier: 1, Outcome: event.WebhookDelivered}},
	} {
		d := newOutboxTest()
		d.addWebhooks(1, market.WebhookPosted)
		for _, ev := range events {
			d.logAndApply(ev)
		}
		ahead := loadWithNewerRows(t, d.testExchange)
		if got, want := ahead.OutboxStatus(1), d.OutboxStatus(1); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if _, hash := ahead.Hash(); hash != func() uint64 { _, h := d.Hash(); return h }() {
			t.Errorf("%s: the restored state differs", name)
		}
	}
}
