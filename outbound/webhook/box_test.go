package webhook

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// box is an outbox with an engine around it, as simple as they can be: a list of
// rows. What fails is due again after a minute.
type box struct {
	mu      sync.Mutex
	rows    map[market.Ref][]*row
	caused  uint64 // events so far
	changed chan struct{}
	faults  []string

	unreadable, unlogged error // what the engine answers, if it does
	gone                 map[string]bool

	tried    []string // in the order of the facts
	post     func(id string) market.WebhookResult
	under    map[market.Ref]int // attempts under way
	most     map[market.Ref]int
	all, top int
}

type row struct {
	hook state.QueuedWebhook
	out  bool
}

func newBox() *box {
	return &box{
		rows: map[market.Ref][]*row{}, changed: make(chan struct{}, 1), under: map[market.Ref]int{}, most: map[market.Ref]int{},
		post: func(string) market.WebhookResult { return market.WebhookResult{Delivered: true} },
	}
}

// send begins to send what is in the box.
func (b *box) send(t *testing.T, change func(*Options)) *Sender {
	t.Helper()
	o := Options{
		Outbox: b, Engine: b, Post: b.try, Now: func() int64 { return time.Now().UnixNano() },
		Fault: func(what string, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.faults = append(b.faults, fmt.Sprint(what, ": ", err))
		},
	}
	if change != nil {
		change(&o)
	}
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

// owe puts an event in the box, due after so long.
func (b *box) owe(supplier market.Ref, lead byte, what market.WebhookType, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.caused++
	b.rows[supplier] = append(b.rows[supplier], &row{hook: state.QueuedWebhook{
		Lead: market.LeadID{byte(supplier), byte(supplier >> 8), lead}, Type: what, Supplier: supplier,
		Cause: b.caused, Created: now.UnixNano(), Due: now.Add(after).UnixNano(),
	}})
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// left is how many events are not delivered.
func (b *box) left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, rows := range b.rows {
		n += len(rows)
	}
	return n
}

// only is the only event that is not delivered.
func (b *box) only() row {
	if b.left() != 1 {
		return row{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rows := range b.rows {
		return *rows[0]
	}
	panic("unreachable")
}

// set changes what posts read.
func (b *box) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

func (b *box) log() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.tried)
}

// first is a supplier's earliest event that can be taken: an earlier one of its
// lead that was not tried twice stands before it.
func (b *box) first(supplier market.Ref) *row {
	var found *row
	for _, r := range b.rows[supplier] {
		earlier := found == nil || cmp.Or(cmp.Compare(r.hook.Due, found.hook.Due), cmp.Compare(r.hook.Cause, found.hook.Cause)) < 0
		if earlier && !r.out && !b.behind(r) {
			found = r
		}
	}
	return found
}

func (b *box) behind(r *row) bool {
	return slices.ContainsFunc(b.rows[r.hook.Supplier], func(other *row) bool {
		return other.hook.Lead == r.hook.Lead && other.hook.Cause < r.hook.Cause && other.hook.Attempts < 2
	})
}

func (b *box) TakeWebhook(supplier market.Ref, now int64) (state.QueuedWebhook, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.first(supplier)
	if r == nil || r.hook.Due > now {
		return state.QueuedWebhook{}, false
	}
	r.out = true
	return r.hook, true
}

func (b *box) ReturnWebhook(h state.QueuedWebhook) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.find(h); r != nil {
		r.out = false
	}
}

func (b *box) find(h state.QueuedWebhook) *row {
	for _, r := range b.rows[h.Supplier] {
		if r.hook.Lead == h.Lead && r.hook.Type == h.Type {
			return r
		}
	}
	return nil
}

func (b *box) NextWebhookDue(supplier market.Ref) (due int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.first(supplier); r != nil {
		return r.hook.Due, true
	}
	return 0, false
}

func (b *box) SuppliersWithPending() (all []market.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for supplier := range b.rows {
		all = append(all, supplier)
	}
	slices.Sort(all)
	return all
}

func (b *box) WebhooksChanged() <-chan struct{} { return b.changed }

// WebhookMessage names an event after its supplier, lead and type. One that nothing
// is known of is a dead letter, which is no more the sender's concern.
func (b *box) WebhookMessage(h *state.QueuedWebhook) (engine.WebhookMessage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone[nameOf(h)] {
		b.rows[h.Supplier] = slices.DeleteFunc(b.rows[h.Supplier], func(r *row) bool { return nameOf(&r.hook) == nameOf(h) })
		return engine.WebhookMessage{}, engine.ErrGone
	}
	return engine.WebhookMessage{ID: nameOf(h), Supplier: h.Supplier, Endpoint: market.Endpoint{URL: fmt.Sprint(h.Supplier)}}, b.unreadable
}

func nameOf(h *state.QueuedWebhook) string {
	return fmt.Sprintf("%d/%d/%d", h.Supplier, h.Lead[2], h.Type)
}

// supplierOf is whom the box made a message for.
func supplierOf(r *market.WebhookRequest) (supplier market.Ref) {
	_, _ = fmt.Sscan(r.Endpoint.URL, &supplier)
	return supplier
}

// try is an attempt, counted while it is under way.
func (b *box) try(r *market.WebhookRequest) market.WebhookResult {
	supplier := supplierOf(r)
	b.count(supplier, 1)
	defer b.count(supplier, -1)
	began := time.Now()
	result := b.post(r.ID)
	result.Elapsed = time.Since(began)
	return result
}

func (b *box) count(supplier market.Ref, by int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.under[supplier] += by
	b.all += by
	b.most[supplier], b.top = max(b.most[supplier], b.under[supplier]), max(b.top, b.all)
}

// underWay is how many attempts are, to one supplier or (0) to all.
func (b *box) underWay(supplier market.Ref) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if supplier == 0 {
		return b.all
	}
	return b.under[supplier]
}

func (b *box) RecordWebhookAttempt(h state.QueuedWebhook, result market.WebhookResult) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unlogged != nil {
		return b.unlogged
	}
	r := b.find(h)
	if r == nil || !r.out {
		panic("BUG: an event was tried that is not out: " + nameOf(&h))
	}
	b.tried = append(b.tried, nameOf(&h))
	r.out = false
	r.hook.Attempts++
	r.hook.Due = time.Now().Add(time.Minute).UnixNano()
	if result.Delivered {
		b.rows[h.Supplier] = slices.DeleteFunc(b.rows[h.Supplier], func(other *row) bool { return other == r })
		if len(b.rows[h.Supplier]) == 0 {
			delete(b.rows, h.Supplier)
		}
	}
	return nil
}
