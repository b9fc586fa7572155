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

// check returns an error if rows, chains and queues of an outbox disagree.
func (b *supplierWebhookOutbox) check() error {
	var sum uint64
	reached := 0
	for lead, head := range b.firstRow {
		blocked := false
		var before *webhookRow
		for link := head + 1; link != 0; {
			row := b.rows.at(int(link - 1))
			switch {
			case row.Lead != lead:
				return fmt.Errorf("row %d of %s is in the chain of %s", link-1, row.Lead, lead)
			case before != nil && before.compareCauseTypeLead(row) >= 0:
				return fmt.Errorf("a chain of %s is out of order", lead)
			}
			if want := row.Dead || !blocked && !b.isInFlight(row); want != (row.queuePosition != 0) {
				return fmt.Errorf("%s %s is queued: %t", lead, row.Type, row.queuePosition != 0)
			}
			blocked = blocked || !row.Dead && row.Attempts < 2
			sum += row.contentHash(b.supplier)
			before, link = row, row.next
			reached++
		}
	}
	if reached != b.rows.n || sum != b.sum {
		return fmt.Errorf("the chains reach %d of %d rows, the sum is off by %d", reached, b.rows.n, b.sum-sum)
	}
	queued := 0
	for dead, q := range map[bool]*webhookHeap{false: &b.due, true: &b.dead} {
		for i := range q.n {
			entry := *q.at(i)
			row := b.rows.at(int(entry.row))
			if row.Dead != dead || row.Due != entry.due || int(row.queuePosition) != i+1 {
				return fmt.Errorf("queue position %d has %s, whose position is %d", i, row.Lead, row.queuePosition)
			}
			if i > 0 && b.precedes(entry, *q.at((i - 1) / 2)) {
				return fmt.Errorf("queue position %d precedes its parent", i)
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
		return fmt.Errorf("%d queue entries without a row", queued)
	}
	return nil
}

// outboxModel implements the rules of outboxes on a list.
type outboxModel struct {
	webhooks []OutboxWebhook // in any order
	inFlight map[webhookKey]bool
	status   map[market.PermanentNumber]OutboxStatus
	limit    int
}

func byCause(a, b OutboxWebhook) int {
	return cmp.Or(cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Type, b.Type), bytes.Compare(a.Lead[:], b.Lead[:]))
}

func byDue(a, b OutboxWebhook) int { return cmp.Or(cmp.Compare(a.Due, b.Due), byCause(a, b)) }

func (m *outboxModel) ofSupplier(supplier market.PermanentNumber, dead bool) (webhooks []OutboxWebhook) {
	for _, h := range m.webhooks {
		if h.Supplier == supplier && h.Dead == dead {
			webhooks = append(webhooks, h)
		}
	}
	slices.SortFunc(webhooks, byDue)
	return webhooks
}

// claimable returns the webhooks that may be claimed, by due time.
func (m *outboxModel) claimable(supplier market.PermanentNumber) (webhooks []OutboxWebhook) {
	pending := m.ofSupplier(supplier, false)
	for _, h := range pending {
		claimable := !m.inFlight[webhookKey{h.Lead, h.Type}]
		for _, other := range pending {
			if other.Lead == h.Lead && byCause(other, h) < 0 && other.Attempts < 2 {
				claimable = false
			}
		}
		if claimable {
			webhooks = append(webhooks, h)
		}
	}
	return webhooks
}

func (m *outboxModel) find(lead market.LeadID, kind market.WebhookType) *OutboxWebhook {
	for i := range m.webhooks {
		if m.webhooks[i].Lead == lead && m.webhooks[i].Type == kind {
			return &m.webhooks[i]
		}
	}
	return nil
}

func (m *outboxModel) drop(lead market.LeadID, kind market.WebhookType) {
	m.webhooks = slices.DeleteFunc(m.webhooks, func(h OutboxWebhook) bool { return h.Lead == lead && h.Type == kind })
}

// trimDeadLetters drops dead letters above the limit, and at most maxExpired for their age.
func (m *outboxModel) trimDeadLetters(supplier market.PermanentNumber, at int64, maxExpired int) {
	for dead := m.ofSupplier(supplier, true); len(dead) > 0; dead = dead[1:] {
		if len(dead) <= m.limit && (dead[0].Due > at-deadLetterRetention || maxExpired <= 0) {
			return
		}
		maxExpired--
		m.drop(dead[0].Lead, dead[0].Type)
		status := m.status[supplier]
		status.Dropped++
		m.status[supplier] = status
	}
}

func (m *outboxModel) apply(seq uint64, at int64, e event.Event) {
	switch e := e.(type) {
	case *event.LeadStatusChangesDecided:
		for _, c := range e.Changes {
			if m.find(c.Lead, c.Webhook) == nil {
				m.webhooks = append(m.webhooks, OutboxWebhook{c.Lead, c.Webhook, c.Supplier, seq, at, at, 0, m.status[c.Supplier].Off})
			}
			m.trimDeadLetters(c.Supplier, at, 2)
		}
	case *event.WebhookAttemptedOrDecided:
		m.applyAttempt(at, e)
		m.trimDeadLetters(e.Supplier, at, 2)
	case *event.SupplierWebhooksTurnedOnOrOff:
		status := m.status[e.Supplier]
		status.Off = e.Off
		if !e.Off {
			status.FailingSince = 0
		}
		m.status[e.Supplier] = status
		for i := range m.webhooks {
			if h := &m.webhooks[i]; e.Off && h.Supplier == e.Supplier && !h.Dead {
				h.Dead, h.Due = true, at
			}
		}
		m.trimDeadLetters(e.Supplier, at, 0)
		m.trimDeadLetters(e.Supplier, at, 2)
	}
}

func (m *outboxModel) applyAttempt(at int64, e *event.WebhookAttemptedOrDecided) {
	status := m.status[e.Supplier]
	name := webhookKey{e.Lead, e.Type}
	switch e.Outcome {
	case event.WebhookDelivered:
		status.FailingSince = 0
		delete(m.inFlight, name)
	case event.WebhookFailed, event.WebhookDead:
		delete(m.inFlight, name)
		if status.FailingSince == 0 {
			status.FailingSince = e.At
		}
	}
	m.status[e.Supplier] = status
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
	case e.Outcome == event.WebhookResent && !status.Off:
		h.Attempts, h.Due, h.Dead = 0, at, false
	}
}

// compare returns an error if any query of the state disagrees with the model.
func (m *outboxModel) compare(s *State) error {
	var waiting []market.PermanentNumber
	for supplier := market.PermanentNumber(1); supplier <= 3; supplier++ {
		pending, dead, ready := m.ofSupplier(supplier, false), m.ofSupplier(supplier, true), m.claimable(supplier)
		want := m.status[supplier]
		want.Pending, want.Dead = len(pending), len(dead)
		for name := range m.inFlight {
			if s.outboxes.get(supplier) != nil && supplierOf(name.lead) == supplier {
				want.InFlight++
			}
		}
		if got := s.OutboxStatus(supplier); got != want {
			return fmt.Errorf("supplier %d: %+v, want %+v", supplier, got, want)
		}
		due, ok := s.NextWebhookDueTime(supplier)
		if ok != (len(ready) > 0) || ok && due != ready[0].Due {
			return fmt.Errorf("supplier %d: next due %d, %t; claimable are %+v", supplier, due, ok, ready)
		}
		if got := s.ListDeadLetters(supplier, 0, 100); !slices.Equal(got, dead) {
			return fmt.Errorf("supplier %d: dead letters %+v, want %+v", supplier, got, dead)
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
		return fmt.Errorf("suppliers with pending webhooks: got %v, want %v", got, waiting)
	}
	for _, want := range m.webhooks {
		if got, ok := s.FindWebhook(want.Lead, want.Type); !ok || got != want {
			return fmt.Errorf("%+v, want %+v", got, want)
		}
	}
	return nil
}

// supplierOf returns the supplier of a lead: the lead's first byte.
func supplierOf(lead market.LeadID) market.PermanentNumber { return market.PermanentNumber(lead[0]) }

// outboxSimulation applies random events, attempts and restarts to a state and to its model.
type outboxSimulation struct {
	*testExchange
	model   outboxModel
	claimed []OutboxWebhook
	draw    func(n int) int
}

func newOutboxSimulation(draw func(n int) int) *outboxSimulation {
	x := &outboxSimulation{testExchange: newTestExchange(), draw: draw, model: outboxModel{inFlight: map[webhookKey]bool{}, status: map[market.PermanentNumber]OutboxStatus{}, limit: 4}}
	x.outboxes.maxDead = x.model.limit
	return x
}

func (x *outboxSimulation) applyToBoth(e event.Event) {
	x.logAndApply(e)
	x.model.apply(x.seq, x.at, e)
}

func (x *outboxSimulation) randomLead() market.LeadID {
	return market.LeadID{byte(1 + x.draw(3)), 15: byte(x.draw(3))}
}

func (x *outboxSimulation) step() error {
	switch x.draw(12) {
	case 0:
		x.at += int64(x.draw(40)) * hour * int64(1+x.draw(20))
	case 1:
		x.applyToBoth(&event.SupplierWebhooksTurnedOnOrOff{Supplier: market.PermanentNumber(1 + x.draw(3)), Off: x.draw(2) == 0, At: x.at})
	case 2:
		return x.restart()
	case 3, 4:
		lead := x.randomLead()
		outcome := []event.WebhookOutcomeOrDecision{event.WebhookResent, event.WebhookDropped, event.WebhookDelivered, event.WebhookDead}[min(3, x.draw(7))]
		x.applyToBoth(&event.WebhookAttemptedOrDecided{
			Lead: lead, Supplier: supplierOf(lead), Type: market.WebhookType(1 + x.draw(4)), Outcome: outcome, Attempt: uint32(x.draw(4)), At: x.at,
		})
	case 5, 6:
		return x.claim()
	case 7, 8:
		x.endAttempt()
	default:
		var changes []event.DecidedLeadStatusChange
		for range 1 + x.draw(3) {
			lead := x.randomLead()
			changes = append(changes, event.DecidedLeadStatusChange{Lead: lead, Supplier: supplierOf(lead), Webhook: market.WebhookType(1 + x.draw(4))})
		}
		x.applyToBoth(&event.LeadStatusChangesDecided{Changes: changes})
	}
	return nil
}

func (x *outboxSimulation) claim() error {
	supplier, now := market.PermanentNumber(1+x.draw(4)), x.at+int64(x.draw(3))*hour
	h, ok := x.ClaimDueWebhook(supplier, now)
	ready := x.model.claimable(supplier)
	if ok != (len(ready) > 0 && ready[0].Due <= now) || ok && h != ready[0] {
		return fmt.Errorf("claimed %+v, %t; claimable are %+v", h, ok, ready)
	}
	if ok {
		x.model.inFlight[webhookKey{h.Lead, h.Type}] = true
		x.claimed = append(x.claimed, h)
	}
	return nil
}

// resendOrDrop resends or drops any webhook at any place in the queue.
func (x *outboxSimulation) resendOrDrop() {
	if len(x.model.webhooks) == 0 {
		return
	}
	h := x.model.webhooks[x.draw(len(x.model.webhooks))]
	outcome := []event.WebhookOutcomeOrDecision{event.WebhookResent, event.WebhookDropped}[x.draw(2)]
	x.applyToBoth(&event.WebhookAttemptedOrDecided{Lead: h.Lead, Supplier: h.Supplier, Type: h.Type, Outcome: outcome, At: x.at})
}

// endAttempt ends the oldest attempt in flight.
func (x *outboxSimulation) endAttempt() {
	if len(x.claimed) == 0 {
		return
	}
	h := x.claimed[0]
	x.claimed = x.claimed[1:]
	ev := &event.WebhookAttemptedOrDecided{Lead: h.Lead, Type: h.Type, Supplier: h.Supplier, Attempt: h.Attempts + 1, At: x.at}
	switch x.draw(8) {
	case 0:
		x.UnclaimWebhook(h)
		delete(x.model.inFlight, webhookKey{h.Lead, h.Type})
		return
	case 1, 2:
		ev.Outcome = event.WebhookDelivered
	case 3:
		ev.Outcome = event.WebhookDead
	default:
		ev.Outcome, ev.Due = event.WebhookFailed, x.at+int64(x.draw(3))*hour
	}
	x.applyToBoth(ev)
}

// restart restores the state from a snapshot and the log, or from the log alone. Claims end.
func (x *outboxSimulation) restart() error {
	_, before := x.Hash()
	restored := New()
	restored.outboxes.maxDead = x.model.limit
	if x.draw(2) == 0 {
		var file bytes.Buffer
		if _, _, err := x.WriteSnapshot(&file, nil); err != nil {
			return err
		}
		if _, err := restored.LoadSnapshot(&file); err != nil {
			return err
		}
	}
	replay(restored, x.log, x.seq)
	if _, after := restored.Hash(); after != before {
		return fmt.Errorf("the state after a restart differs")
	}
	x.State, x.claimed = restored, nil
	clear(x.model.inFlight)
	return nil
}

// Events, concurrent and late attempts, operators and restarts come in any order.
func TestOutboxMatchesModel(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		x := newOutboxSimulation(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			if err := x.step(); err != nil {
				t.Fatal(err)
			}
			if err := x.model.compare(x.State); err != nil {
				t.Fatal(err)
			}
			for supplier, status := range x.model.status {
				for what, is := range map[string]bool{
					"off": status.Off, "failing": status.FailingSince != 0, "dropped": status.Dropped > 0,
					"blocked": len(x.model.ofSupplier(supplier, false)) > len(x.model.claimable(supplier))+len(x.model.inFlight),
				} {
					if is {
						seen[what]++
					}
				}
			}
		}
	})
	if got := slices.Sorted(maps.Keys(seen)); len(got) != 4 {
		t.Errorf("the simulation reached only %v", got)
	}
}

// The outboxes are large, so that the queues are deep.
func TestLargeOutboxMatchesModel(t *testing.T) {
	random := uint64(7)
	x := newOutboxSimulation(func(n int) int {
		random = random*6364136223846793005 + 1442695040888963407
		return int(random>>33) % n
	})
	x.model.limit, x.outboxes.maxDead = 50, 50
	for n := range 400 {
		lead := market.LeadID(scatteredID(uint64(n)))
		lead[0] = byte(1 + n%2)
		x.applyToBoth(&event.LeadStatusChangesDecided{Changes: []event.DecidedLeadStatusChange{{Lead: lead, Supplier: supplierOf(lead), Webhook: market.WebhookType(1 + x.draw(3))}}})
		if n%9 == 0 {
			x.applyToBoth(&event.WebhookAttemptedOrDecided{Lead: lead, Supplier: supplierOf(lead), Type: x.model.webhooks[len(x.model.webhooks)-1].Type, Outcome: event.WebhookDead, Attempt: 1, At: x.at})
		}
		if n%5 == 0 {
			x.at += second
		}
	}
	for n := range 1500 {
		var err error
		x.at += second
		switch {
		case n == 900:
			x.applyToBoth(&event.SupplierWebhooksTurnedOnOrOff{Supplier: 1, Off: true})
		case n == 901:
			x.applyToBoth(&event.SupplierWebhooksTurnedOnOrOff{Supplier: 1})
		case n%500 == 499:
			err = x.restart()
		case n%7 == 0:
			x.resendOrDrop()
		case x.draw(2) == 0:
			err = x.claim()
		default:
			x.endAttempt()
		}
		if n%50 == 0 || n == 900 {
			err = cmp.Or(err, x.model.compare(x.State))
		}
		if err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
	}
}
