package webhook

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// fakeOutbox is a minimal outbox and engine: a list of rows. A failed event is due again
// after a minute.
type fakeOutbox struct {
	mu      sync.Mutex
	rows    map[market.PermanentNumber][]*row
	causes  uint64 // events so far
	changed chan struct{}
	faults  []string

	messageErr, logErr error // errors that the engine returns, or nil
	gone               map[string]bool

	attempts        []string // in the order of logging
	post            func(id string) market.WebhookAttemptResult
	delay           time.Duration                  // of the default post
	failing         map[string]bool                // events that the default post does not deliver
	inFlight        map[market.PermanentNumber]int // attempts under way
	maxInFlight     map[market.PermanentNumber]int
	total, maxTotal int
}

type row struct {
	webhook state.OutboxWebhook
	claimed bool
}

// testOutbox runs a test in virtual time with an empty outbox.
func testOutbox(t *testing.T, test func(t *testing.T, b *fakeOutbox)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &fakeOutbox{rows: map[market.PermanentNumber][]*row{}, changed: make(chan struct{}, 1), inFlight: map[market.PermanentNumber]int{}, maxInFlight: map[market.PermanentNumber]int{}}
		b.post = func(id string) market.WebhookAttemptResult {
			b.mu.Lock()
			delay, fails := b.delay, b.failing[id]
			b.mu.Unlock()
			time.Sleep(delay)
			return market.WebhookAttemptResult{Delivered: !fails}
		}
		test(t, b)
	})
}

// startSender starts a sender for the outbox.
func (b *fakeOutbox) startSender(t *testing.T, change func(*SenderOptions)) *Sender {
	t.Helper()
	o := SenderOptions{
		Outbox: b, Engine: b, Post: b.postCounted, Now: func() int64 { return time.Now().UnixNano() },
		ReportFault: func(action string, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.faults = append(b.faults, fmt.Sprint(action, ": ", err))
		},
	}
	if change != nil {
		change(&o)
	}
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

// add adds an event that becomes due after a time.
func (b *fakeOutbox) add(supplier market.PermanentNumber, lead byte, webhookType market.WebhookType, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.causes++
	b.rows[supplier] = append(b.rows[supplier], &row{webhook: state.OutboxWebhook{
		Lead: market.LeadID{byte(supplier), byte(supplier >> 8), lead}, Type: webhookType, Supplier: supplier,
		Cause: b.causes, Created: now.UnixNano(), Due: now.Add(after).UnixNano(),
	}})
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// addLeads adds a posted event, due now, of each of a supplier's leads 0 to count-1.
func (b *fakeOutbox) addLeads(supplier market.PermanentNumber, count byte) {
	for lead := range count {
		b.add(supplier, lead, posted, 0)
	}
}

// pending returns the number of events that are not delivered.
func (b *fakeOutbox) pending() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, rows := range b.rows {
		n += len(rows)
	}
	return n
}

// onlyRow returns the only event that is not delivered.
func (b *fakeOutbox) onlyRow() row {
	if b.pending() != 1 {
		return row{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rows := range b.rows {
		return *rows[0]
	}
	panic("unreachable")
}

// update runs change under the lock.
func (b *fakeOutbox) update(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

func (b *fakeOutbox) attemptLog() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.attempts)
}

// earliest returns a supplier's earliest event that can be claimed. An event waits for an
// earlier one of its lead until that one was attempted twice.
func (b *fakeOutbox) earliest(supplier market.PermanentNumber) *row {
	var found *row
	for _, r := range b.rows[supplier] {
		earlier := found == nil || cmp.Or(cmp.Compare(r.webhook.Due, found.webhook.Due), cmp.Compare(r.webhook.Cause, found.webhook.Cause)) < 0
		if earlier && !r.claimed && !b.waitsForEarlier(r) {
			found = r
		}
	}
	return found
}

func (b *fakeOutbox) waitsForEarlier(r *row) bool {
	return slices.ContainsFunc(b.rows[r.webhook.Supplier], func(other *row) bool {
		return other.webhook.Lead == r.webhook.Lead && other.webhook.Cause < r.webhook.Cause && other.webhook.Attempts < 2
	})
}

func (b *fakeOutbox) ClaimDueWebhook(supplier market.PermanentNumber, now int64) (state.OutboxWebhook, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.earliest(supplier)
	if r == nil || r.webhook.Due > now {
		return state.OutboxWebhook{}, false
	}
	r.claimed = true
	return r.webhook, true
}

func (b *fakeOutbox) UnclaimWebhook(h state.OutboxWebhook) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.find(h); r != nil {
		r.claimed = false
	}
}

func (b *fakeOutbox) find(h state.OutboxWebhook) *row {
	for _, r := range b.rows[h.Supplier] {
		if r.webhook.Lead == h.Lead && r.webhook.Type == h.Type {
			return r
		}
	}
	return nil
}

func (b *fakeOutbox) NextWebhookDueTime(supplier market.PermanentNumber) (due int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.earliest(supplier); r != nil {
		return r.webhook.Due, true
	}
	return 0, false
}

func (b *fakeOutbox) SuppliersWithPendingWebhooks() (all []market.PermanentNumber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for supplier := range b.rows {
		all = append(all, supplier)
	}
	slices.Sort(all)
	return all
}

func (b *fakeOutbox) WebhookMayBeDue() <-chan struct{} { return b.changed }

// BuildWebhookMessageOrDeadLetter names an event after its supplier, lead and type. An event in gone becomes a
// dead letter, which no longer concerns the sender.
func (b *fakeOutbox) BuildWebhookMessageOrDeadLetter(h *state.OutboxWebhook) (engine.WebhookMessage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone[nameOf(h)] {
		b.rows[h.Supplier] = slices.DeleteFunc(b.rows[h.Supplier], func(r *row) bool { return nameOf(&r.webhook) == nameOf(h) })
		return engine.WebhookMessage{}, engine.ErrGone
	}
	return engine.WebhookMessage{ID: nameOf(h), Supplier: h.Supplier, Endpoint: market.OutboundEndpoint{URL: fmt.Sprint(h.Supplier)}}, b.messageErr
}

func nameOf(h *state.OutboxWebhook) string {
	return fmt.Sprintf("%d/%d/%d", h.Supplier, h.Lead[2], h.Type)
}

// supplierOf returns the supplier of a message of the outbox.
func supplierOf(r *market.WebhookRequest) (supplier market.PermanentNumber) {
	_, _ = fmt.Sscan(r.Endpoint.URL, &supplier)
	return supplier
}

// postCounted makes an attempt and counts it while it is in flight.
func (b *fakeOutbox) postCounted(r *market.WebhookRequest) market.WebhookAttemptResult {
	supplier := supplierOf(r)
	b.count(supplier, 1)
	defer b.count(supplier, -1)
	start := time.Now()
	result := b.post(r.ID)
	result.Elapsed = time.Since(start)
	return result
}

func (b *fakeOutbox) count(supplier market.PermanentNumber, by int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inFlight[supplier] += by
	b.total += by
	b.maxInFlight[supplier], b.maxTotal = max(b.maxInFlight[supplier], b.inFlight[supplier]), max(b.maxTotal, b.total)
}

// inFlightTo returns the attempts in flight to one supplier, or to all for 0.
func (b *fakeOutbox) inFlightTo(supplier market.PermanentNumber) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if supplier == 0 {
		return b.total
	}
	return b.inFlight[supplier]
}

func (b *fakeOutbox) RecordWebhookAttempt(h state.OutboxWebhook, result market.WebhookAttemptResult) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.logErr != nil {
		return b.logErr
	}
	r := b.find(h)
	if r == nil || !r.claimed {
		panic("BUG: attempt of an event that is not claimed: " + nameOf(&h))
	}
	b.attempts = append(b.attempts, nameOf(&h))
	r.claimed = false
	r.webhook.Attempts++
	r.webhook.Due = time.Now().Add(time.Minute).UnixNano()
	if result.Delivered {
		b.rows[h.Supplier] = slices.DeleteFunc(b.rows[h.Supplier], func(other *row) bool { return other == r })
		if len(b.rows[h.Supplier]) == 0 {
			delete(b.rows, h.Supplier)
		}
	}
	return nil
}
