package state

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// check says what is wrong with an outbox, of all that has to hold between its
// rows, its chains and its queues.
func (b *supplierWebhookOutbox) check() error {
	var sum uint64
	reached := 0
	for lead, head := range b.firstRow {
		held := false
		var before *webhookRow
		for link := head + 1; link != 0; {
			row := b.rows.at(int(link - 1))
			switch {
			case row.Lead != lead:
				return fmt.Errorf("row %d of %s is in the chain of %s", link-1, row.Lead, lead)
			case before != nil && before.compareCauseTypeLead(row) >= 0:
				return fmt.Errorf("a chain of %s is out of order", lead)
			}
			if want := row.Dead || !held && !b.isInFlight(row); want != (row.queuePosition != 0) {
				return fmt.Errorf("%s %s is queued: %t", lead, row.Type, row.queuePosition != 0)
			}
			held = held || !row.Dead && row.Attempts < 2
			sum += row.contentHash(b.supplier)
			before, link = row, row.next
			reached++
		}
	}
	if reached != b.rows.n || sum != b.sum {
		return fmt.Errorf("%d rows of %d are reached, the sum is off by %d", reached, b.rows.n, b.sum-sum)
	}
	queued := 0
	for dead, q := range map[bool]*webhookHeap{false: &b.due, true: &b.dead} {
		for i := range q.n {
			entry := *q.at(i)
			row := b.rows.at(int(entry.row))
			if row.Dead != dead || row.Due != entry.due || int(row.queuePosition) != i+1 {
				return fmt.Errorf("place %d has %s, whose place is %d", i, row.Lead, row.queuePosition)
			}
			if i > 0 && b.precedes(entry, *q.at((i - 1) / 2)) {
				return fmt.Errorf("place %d comes before the one above", i)
			}
		}
		queued += q.n
	}
	for i := range b.rows.n {
		if b.rows.at(i).queuePosition != 0 {
			queued--
		}
	}
	if queued != 0 {
		return fmt.Errorf("%d entries more than rows that have a place", queued)
	}
	return nil
}

// model is what outboxes are, as a list and its rules.
type model struct {
	hooks    []QueuedWebhook // in no order that matters
	out      map[webhookKey]bool
	standing map[market.PermanentNumber]OutboxStatus
	limit    int
}

func byCause(a, b QueuedWebhook) int {
	return cmp.Or(cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Type, b.Type), bytes.Compare(a.Lead[:], b.Lead[:]))
}

func byDue(a, b QueuedWebhook) int { return cmp.Or(cmp.Compare(a.Due, b.Due), byCause(a, b)) }

func (m *model) of(supplier market.PermanentNumber, dead bool) (hooks []QueuedWebhook) {
	for _, h := range m.hooks {
		if h.Supplier == supplier && h.Dead == dead {
			hooks = append(hooks, h)
		}
	}
	slices.SortFunc(hooks, byDue)
	return hooks
}

// ready are those that may be taken, the earliest first.
func (m *model) ready(supplier market.PermanentNumber) (hooks []QueuedWebhook) {
	pending := m.of(supplier, false)
	for _, h := range pending {
		free := !m.out[webhookKey{h.Lead, h.Type}]
		for _, other := range pending {
			if other.Lead == h.Lead && byCause(other, h) < 0 && other.Attempts < 2 {
				free = false
			}
		}
		if free {
			hooks = append(hooks, h)
		}
	}
	return hooks
}

func (m *model) find(lead market.LeadID, kind market.WebhookType) *QueuedWebhook {
	for i := range m.hooks {
		if m.hooks[i].Lead == lead && m.hooks[i].Type == kind {
			return &m.hooks[i]
		}
	}
	return nil
}

func (m *model) drop(lead market.LeadID, kind market.WebhookType) {
	m.hooks = slices.DeleteFunc(m.hooks, func(h QueuedWebhook) bool { return h.Lead == lead && h.Type == kind })
}

// trim lets go of dead letters, at most so many for their age.
func (m *model) trim(supplier market.PermanentNumber, at int64, old int) {
	for dead := m.of(supplier, true); len(dead) > 0; dead = dead[1:] {
		if len(dead) <= m.limit && (dead[0].Due > at-deadLetterRetention || old <= 0) {
			return
		}
		old--
		m.drop(dead[0].Lead, dead[0].Type)
		standing := m.standing[supplier]
		standing.Dropped++
		m.standing[supplier] = standing
	}
}

func (m *model) apply(seq uint64, at int64, e event.Event) {
	switch e := e.(type) {
	case *event.LeadStatusesChanged:
		for _, c := range e.Changes {
			if m.find(c.Lead, c.Webhook) == nil {
				m.hooks = append(m.hooks, QueuedWebhook{c.Lead, c.Webhook, c.Supplier, seq, at, at, 0, m.standing[c.Supplier].Off})
			}
			m.trim(c.Supplier, at, 2)
		}
	case *event.WebhookAttempted:
		m.tried(at, e)
		m.trim(e.Supplier, at, 2)
	case *event.SupplierWebhooksTurnedOnOrOff:
		standing := m.standing[e.Supplier]
		standing.Off = e.Off
		if !e.Off {
			standing.FailingSince = 0
		}
		m.standing[e.Supplier] = standing
		for i := range m.hooks {
			if h := &m.hooks[i]; e.Off && h.Supplier == e.Supplier && !h.Dead {
				h.Dead, h.Due = true, at
			}
		}
		m.trim(e.Supplier, at, 0)
		m.trim(e.Supplier, at, 2)
	}
}

func (m *model) tried(at int64, e *event.WebhookAttempted) {
	standing := m.standing[e.Supplier]
	name := webhookKey{e.Lead, e.Type}
	switch e.Outcome {
	case event.WebhookDelivered:
		standing.FailingSince = 0
		delete(m.out, name)
	case event.WebhookFailed, event.WebhookDead:
		delete(m.out, name)
		if standing.FailingSince == 0 {
			standing.FailingSince = e.At
		}
	}
	m.standing[e.Supplier] = standing
	h := m.find(e.Lead, e.Type)
	if h == nil {
		return
	}
	switch counts := !h.Dead && e.Attempt == h.Attempts+1; {
	case e.Outcome == event.WebhookDelivered || e.Outcome == event.WebhookDropped:
		m.drop(e.Lead, e.Type)
	case e.Outcome == event.WebhookFailed && counts:
		h.Attempts, h.Due = e.Attempt, e.Due
	case e.Outcome == event.WebhookDead && counts:
		h.Attempts, h.Due, h.Dead = e.Attempt, at, true
	case e.Outcome == event.WebhookResent && !standing.Off:
		h.Attempts, h.Due, h.Dead = 0, at, false
	}
}

// compare looks at everything that can be asked.
func (m *model) compare(s *State) error {
	var waiting []market.PermanentNumber
	for supplier := market.PermanentNumber(1); supplier <= 3; supplier++ {
		pending, dead, ready := m.of(supplier, false), m.of(supplier, true), m.ready(supplier)
		want := m.standing[supplier]
		want.Pending, want.Dead = len(pending), len(dead)
		for name := range m.out {
			if s.outboxes.get(supplier) != nil && supplierOf(name.lead) == supplier {
				want.InFlight++
			}
		}
		if got := s.OutboxStatus(supplier); got != want {
			return fmt.Errorf("supplier %d: %+v, want %+v", supplier, got, want)
		}
		due, ok := s.NextWebhookDueTime(supplier)
		if ok != (len(ready) > 0) || ok && due != ready[0].Due {
			return fmt.Errorf("supplier %d: next at %d, %t; ready are %+v", supplier, due, ok, ready)
		}
		if got := s.ListDeadLetters(supplier, 0, 100); !slices.Equal(got, dead) {
			return fmt.Errorf("supplier %d: dead are %+v, want %+v", supplier, got, dead)
		}
		if len(pending) > 0 {
			waiting = append(waiting, supplier)
		}
		if b := s.outboxes.get(supplier); b != nil {
			if err := b.check(); err != nil {
				return err
			}
		}
	}
	if got := s.SuppliersWithPendingWebhooks(); !slices.Equal(got, waiting) {
		return fmt.Errorf("suppliers %v are owed something, want %v", got, waiting)
	}
	for _, want := range m.hooks {
		if got, ok := s.FindWebhook(want.Lead, want.Type); !ok || got != want {
			return fmt.Errorf("%+v, want %+v", got, want)
		}
	}
	return nil
}

// supplierOf is whose a lead of the model is: its first byte says so.
func supplierOf(lead market.LeadID) market.PermanentNumber { return market.PermanentNumber(lead[0]) }

// errand is a test's run of facts, attempts and restarts.
type errand struct {
	*world
	model model
	taken []QueuedWebhook
	draw  func(n int) int
}

func newErrand(draw func(n int) int) *errand {
	w := &errand{world: newWorld(), draw: draw, model: model{out: map[webhookKey]bool{}, standing: map[market.PermanentNumber]OutboxStatus{}, limit: 4}}
	w.outboxes.maxDead = w.model.limit
	return w
}

func (w *errand) both(e event.Event) {
	w.fact(e)
	w.model.apply(w.seq, w.at, e)
}

func (w *errand) lead() market.LeadID {
	return market.LeadID{byte(1 + w.draw(3)), 15: byte(w.draw(3))}
}

func (w *errand) step() error {
	switch w.draw(12) {
	case 0:
		w.at += int64(w.draw(40)) * hour * int64(1+w.draw(20))
	case 1:
		w.both(&event.SupplierWebhooksTurnedOnOrOff{Supplier: market.PermanentNumber(1 + w.draw(3)), Off: w.draw(2) == 0, At: w.at})
	case 2:
		return w.restart()
	case 3, 4:
		lead := w.lead()
		outcome := []event.WebhookOutcome{event.WebhookResent, event.WebhookDropped, event.WebhookDelivered, event.WebhookDead}[min(3, w.draw(7))]
		w.both(&event.WebhookAttempted{
			Lead: lead, Supplier: supplierOf(lead), Type: market.WebhookType(1 + w.draw(4)), Outcome: outcome, Attempt: uint32(w.draw(4)), At: w.at,
		})
	case 5, 6:
		return w.take()
	case 7, 8:
		w.attempted()
	default:
		var changes []event.LeadStatusChange
		for range 1 + w.draw(3) {
			lead := w.lead()
			changes = append(changes, event.LeadStatusChange{Lead: lead, Supplier: supplierOf(lead), Webhook: market.WebhookType(1 + w.draw(4))})
		}
		w.both(&event.LeadStatusesChanged{Changes: changes})
	}
	return nil
}

func (w *errand) take() error {
	supplier, now := market.PermanentNumber(1+w.draw(4)), w.at+int64(w.draw(3))*hour
	h, ok := w.ClaimDueWebhook(supplier, now)
	ready := w.model.ready(supplier)
	if ok != (len(ready) > 0 && ready[0].Due <= now) || ok && h != ready[0] {
		return fmt.Errorf("took %+v, %t; ready are %+v", h, ok, ready)
	}
	if ok {
		w.model.out[webhookKey{h.Lead, h.Type}] = true
		w.taken = append(w.taken, h)
	}
	return nil
}

// operate resends any hook at all, or drops it: wherever it stands in its queue.
func (w *errand) operate() {
	if len(w.model.hooks) == 0 {
		return
	}
	h := w.model.hooks[w.draw(len(w.model.hooks))]
	outcome := []event.WebhookOutcome{event.WebhookResent, event.WebhookDropped}[w.draw(2)]
	w.both(&event.WebhookAttempted{Lead: h.Lead, Supplier: h.Supplier, Type: h.Type, Outcome: outcome, At: w.at})
}

// attempted ends the oldest attempt that is out.
func (w *errand) attempted() {
	if len(w.taken) == 0 {
		return
	}
	h := w.taken[0]
	w.taken = w.taken[1:]
	fact := &event.WebhookAttempted{Lead: h.Lead, Type: h.Type, Supplier: h.Supplier, Attempt: h.Attempts + 1, At: w.at}
	switch w.draw(8) {
	case 0:
		w.UnclaimWebhook(h)
		delete(w.model.out, webhookKey{h.Lead, h.Type})
		return
	case 1, 2:
		fact.Outcome = event.WebhookDelivered
	case 3:
		fact.Outcome = event.WebhookDead
	default:
		fact.Outcome, fact.Due = event.WebhookFailed, w.at+int64(w.draw(3))*hour
	}
	w.both(fact)
}

// restart goes on from a snapshot, or from the log alone; who was at work with a
// hook is gone.
func (w *errand) restart() error {
	_, before := w.Hash()
	again := New()
	again.outboxes.maxDead = w.model.limit
	if w.draw(2) == 0 {
		var file bytes.Buffer
		if _, _, err := w.WriteSnapshot(&file); err != nil {
			return err
		}
		if _, err := again.LoadSnapshot(&file); err != nil {
			return err
		}
	}
	replay(again, w.log, w.seq)
	if _, after := again.Hash(); after != before {
		return fmt.Errorf("another state after a restart")
	}
	w.State, w.taken = again, nil
	clear(w.model.out)
	return nil
}

// An outbox against its definition: facts, attempts side by side, late ones,
// operators and restarts in any order.
func TestOutboxKeepsToItsDefinition(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := newErrand(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			if err := w.step(); err != nil {
				t.Fatal(err)
			}
			if err := w.model.compare(w.State); err != nil {
				t.Fatal(err)
			}
			for supplier, standing := range w.model.standing {
				for what, is := range map[string]bool{
					"off": standing.Off, "failing": standing.FailingSince != 0, "dropped": standing.Dropped > 0,
					"held back": len(w.model.of(supplier, false)) > len(w.model.ready(supplier))+len(w.model.out),
				} {
					if is {
						seen[what]++
					}
				}
			}
		}
	})
	if got := slices.Sorted(maps.Keys(seen)); len(got) != 4 {
		t.Errorf("only %v came about", got)
	}
}

// The same with much in it, so that queues are deep.
func TestAFullOutboxKeepsToItsDefinition(t *testing.T) {
	dice := uint64(7)
	w := newErrand(func(n int) int {
		dice = dice*6364136223846793005 + 1442695040888963407
		return int(dice>>33) % n
	})
	w.model.limit, w.outboxes.maxDead = 50, 50
	for n := range 400 {
		lead := market.LeadID(spread(uint64(n)))
		lead[0] = byte(1 + n%2)
		w.both(&event.LeadStatusesChanged{Changes: []event.LeadStatusChange{{Lead: lead, Supplier: supplierOf(lead), Webhook: market.WebhookType(1 + w.draw(3))}}})
		if n%9 == 0 {
			w.both(&event.WebhookAttempted{Lead: lead, Supplier: supplierOf(lead), Type: w.model.hooks[len(w.model.hooks)-1].Type, Outcome: event.WebhookDead, Attempt: 1, At: w.at})
		}
		if n%5 == 0 {
			w.at += second
		}
	}
	for n := range 1500 {
		var err error
		w.at += second
		switch {
		case n == 900:
			w.both(&event.SupplierWebhooksTurnedOnOrOff{Supplier: 1, Off: true})
		case n == 901:
			w.both(&event.SupplierWebhooksTurnedOnOrOff{Supplier: 1})
		case n%500 == 499:
			err = w.restart()
		case n%7 == 0:
			w.operate()
		case w.draw(2) == 0:
			err = w.take()
		default:
			w.attempted()
		}
		if n%50 == 0 || n == 900 {
			err = cmp.Or(err, w.model.compare(w.State))
		}
		if err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
	}
}
