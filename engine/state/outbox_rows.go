package state

import (
	"bytes"
	"cmp"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// deadLetterRetention is the age at which a dead letter is removed.
const deadLetterRetention = int64(30 * 24 * time.Hour)

// enqueueWebhook puts the webhook that an event causes into the supplier's outbox.
func (s *State) enqueueWebhook(seq uint64, at int64, supplier market.Ref, lead market.LeadID, kind market.WebhookType) {
	if kind == market.WebhookNone {
		return
	}
	if supplier == 0 {
		panic("BUG: an event causes a webhook without a supplier")
	}
	if seq <= s.outboxes.shard(supplier).loaded {
		return
	}
	b := s.outboxes.getOrCreate(supplier)
	b.mu.Lock()
	b.addRow(webhookRow{Lead: lead, Type: kind, Cause: seq, Created: at, Due: at, Dead: b.off})
	b.removeExcessDead(at)
	b.mu.Unlock()
	s.outboxes.notify()
}

func (s *State) applyWebhookAttempt(seq uint64, at int64, e *event.WebhookAttempted) {
	if seq <= s.outboxes.shard(e.Supplier).loaded {
		return
	}
	b := s.outboxes.getOrCreate(e.Supplier)
	b.mu.Lock()
	b.applyAttempt(e, at)
	b.removeExcessDead(at)
	b.mu.Unlock()
	s.outboxes.notify()
}

func (s *State) applyWebhooksSwitched(seq uint64, at int64, e *event.WebhooksSwitched) {
	if seq <= s.outboxes.shard(e.Supplier).loaded {
		return
	}
	b := s.outboxes.getOrCreate(e.Supplier)
	b.mu.Lock()
	if b.off = e.Off; e.Off {
		b.markAllDead(at)
	} else {
		b.failingSince = 0
	}
	b.removeExcessDead(at)
	b.mu.Unlock()
	s.outboxes.notify()
}

// applyAttempt applies an attempt's result, or an operator's decision.
func (b *outbox) applyAttempt(e *event.WebhookAttempted, at int64) {
	switch e.Outcome {
	case event.WebhookDelivered:
		b.failingSince = 0
		delete(b.inFlight, webhookKey{e.Lead, e.Type})
	case event.WebhookFailed, event.WebhookDead:
		if b.failingSince == 0 {
			b.failingSince = max(e.At, 1)
		}
		delete(b.inFlight, webhookKey{e.Lead, e.Type})
	}
	if n, ok := b.findRow(e.Lead, e.Type); ok {
		row := b.rows.at(int(n))
		late := row.Dead || e.Attempt != row.Attempts+1
		switch {
		case e.Outcome == event.WebhookDelivered, e.Outcome == event.WebhookDropped:
			b.removeRow(n)
		case e.Outcome == event.WebhookFailed && !late:
			b.updateRow(n, e.Attempt, e.Due, false)
		case e.Outcome == event.WebhookDead && !late:
			b.updateRow(n, e.Attempt, at, true)
		case e.Outcome == event.WebhookResent && !b.off:
			b.updateRow(n, 0, at, false)
		}
	}
	b.updateQueues(e.Lead)
}

// addRow adds a webhook unless the outbox has it.
func (b *outbox) addRow(row webhookRow) {
	if _, ok := b.findRow(row.Lead, row.Type); ok {
		return
	}
	b.rows.push(&row)
	b.peakRows = max(b.peakRows, b.rows.n)
	b.sum += row.digest(b.supplier)
	b.linkToLead(uint32(b.rows.n - 1))
	b.updateQueues(row.Lead)
}

// updateRow rewrites a webhook. The caller must call arrange after it.
func (b *outbox) updateRow(n, attempts uint32, due int64, dead bool) {
	b.dequeue(n)
	row := b.rows.at(int(n))
	b.sum -= row.digest(b.supplier)
	row.Attempts, row.Due, row.Dead = attempts, due, dead
	b.sum += row.digest(b.supplier)
}

// removeRow removes a webhook; the last row takes its place. If it was pending, the caller
// must call arrange.
func (b *outbox) removeRow(n uint32) {
	b.dequeue(n)
	b.sum -= b.rows.at(int(n)).digest(b.supplier)
	b.unlinkFromLead(n)
	if last := uint32(b.rows.n - 1); n != last {
		b.moveRow(last, n)
	}
	b.rows.pop()
	if b.rows.n == 0 && b.peakRows > chunkRows {
		b.firstRow, b.peakRows = nil, 0 // a map never shrinks
	}
}

// moveRow copies a row to a free place, and updates all references to its old place.
func (b *outbox) moveRow(from, to uint32) {
	row := b.rows.at(int(to))
	*row = *b.rows.at(int(from))
	if row.queuePosition != 0 {
		b.queueOf(row).at(int(row.queuePosition - 1)).row = to
	}
	head := b.firstRow[row.Lead]
	if head == from {
		b.firstRow[row.Lead] = to
		return
	}
	b.predecessor(head, from).next = to + 1
}

// predecessor returns the row in front of n in the chain that begins at head.
func (b *outbox) predecessor(head, n uint32) *webhookRow {
	row := b.rows.at(int(head))
	for row.next != n+1 {
		row = b.rows.at(int(row.next - 1))
	}
	return row
}

// markAllDead makes every pending webhook a dead letter and keeps the latest ones, up to the
// limit. It refills the outbox from the last row on, which is usually the latest: once the
// limit is reached, an earlier row costs one comparison.
func (b *outbox) markAllDead(at int64) {
	rows := b.rows
	b.rows, b.firstRow, b.peakRows, b.due, b.dead, b.sum = slab[webhookRow]{}, nil, 0, webhookQueue{}, webhookQueue{}, 0
	for i := rows.n - 1; i >= 0; i-- {
		row := *rows.at(i)
		row.next, row.queuePosition = 0, 0
		if !row.Dead {
			row.Dead, row.Due = true, at
		}
		if b.dead.n == b.maxDead {
			oldest := b.dead.at(0)
			b.dropped++
			if row.Due < oldest.due || row.Due == oldest.due && row.compare(b.rows.at(int(oldest.row))) < 0 {
				continue
			}
			b.removeRow(oldest.row)
		}
		b.addRow(row)
	}
}

// removeExcessDead removes dead letters that are too many or too old. An event adds at most one, so
// removing two at a time keeps up.
func (b *outbox) removeExcessDead(at int64) {
	for range 2 {
		if b.dead.n == 0 || b.dead.n <= b.maxDead && b.dead.at(0).due > at-deadLetterRetention {
			return
		}
		b.removeRow(b.dead.at(0).row)
		b.dropped++
	}
}

// findRow returns a webhook's row.
func (b *outbox) findRow(lead market.LeadID, kind market.WebhookType) (n uint32, ok bool) {
	n, ok = b.firstRow[lead]
	for link := n + 1; ok && link != 0; link = b.rows.at(int(link - 1)).next {
		if b.rows.at(int(link-1)).Type == kind {
			return link - 1, true
		}
	}
	return 0, false
}

// linkToLead inserts a row into its lead's chain, behind those with earlier causes.
func (b *outbox) linkToLead(n uint32) {
	if b.firstRow == nil {
		b.firstRow = make(map[market.LeadID]uint32)
	}
	row := b.rows.at(int(n))
	head, ok := b.firstRow[row.Lead]
	if !ok || row.compare(b.rows.at(int(head))) < 0 {
		row.next = 0
		if ok {
			row.next = head + 1
		}
		b.firstRow[row.Lead] = n
		return
	}
	before := b.rows.at(int(head))
	for before.next != 0 && b.rows.at(int(before.next-1)).compare(row) < 0 {
		before = b.rows.at(int(before.next - 1))
	}
	row.next, before.next = before.next, n+1
}

// unlinkFromLead removes a row from its lead's chain.
func (b *outbox) unlinkFromLead(n uint32) {
	row := b.rows.at(int(n))
	head := b.firstRow[row.Lead]
	switch {
	case head != n:
		b.predecessor(head, n).next = row.next
	case row.next != 0:
		b.firstRow[row.Lead] = row.next - 1
	default:
		delete(b.firstRow, row.Lead)
	}
}

// webhookQueue is a heap of an outbox's rows, the earliest first. Each row stores its place, so
// any row can leave.
type webhookQueue struct{ slab[queueEntry] }

// queueEntry stores the row's time beside its number, so that a comparison rarely reads rows,
// which would be cache misses.
type queueEntry struct {
	due int64 // the row's Due
	row uint32
}

// queueOf returns the queue for the row.
func (b *outbox) queueOf(row *webhookRow) *webhookQueue {
	if row.Dead {
		return &b.dead
	}
	return &b.due
}

// updateQueues puts each of a lead's webhooks into its queue or takes it out, depending on the
// webhooks before it. Callers call it after every change of one of them.
func (b *outbox) updateQueues(lead market.LeadID) {
	n, ok := b.firstRow[lead]
	held := false
	for link := n + 1; ok && link != 0; {
		row := b.rows.at(int(link - 1))
		switch goes := row.Dead || !held && !b.isInFlight(row); {
		case goes && row.queuePosition == 0:
			b.enqueue(link - 1)
		case !goes:
			b.dequeue(link - 1)
		}
		held = held || !row.Dead && row.Attempts < 2
		link = row.next
	}
}

func (b *outbox) isInFlight(row *webhookRow) bool {
	if len(b.inFlight) == 0 {
		return false
	}
	_, out := b.inFlight[row.key()]
	return out
}

// enqueue puts a row into its queue. The row must not be in it.
func (b *outbox) enqueue(n uint32) {
	row := b.rows.at(int(n))
	q := b.queueOf(row)
	q.push(&queueEntry{row.Due, n})
	b.siftUp(q, q.n-1)
}

// dequeue takes a row out of its queue, if it is in one. Callers call it before they change
// the row's time or state.
func (b *outbox) dequeue(n uint32) {
	row := b.rows.at(int(n))
	if row.queuePosition == 0 {
		return
	}
	q, at := b.queueOf(row), int(row.queuePosition-1)
	row.queuePosition = 0
	last := *q.at(q.n - 1)
	q.pop()
	if at < q.n {
		b.setEntry(q, at, last)
		b.siftDown(q, b.siftUp(q, at))
	}
}

// setEntry writes an entry and stores its place in the row.
func (b *outbox) setEntry(q *webhookQueue, at int, entry queueEntry) {
	*q.at(at) = entry
	b.rows.at(int(entry.row)).queuePosition = uint32(at + 1)
}

// siftUp moves an entry before those that it precedes, and returns its place.
func (b *outbox) siftUp(q *webhookQueue, at int) int {
	entry := *q.at(at)
	for at > 0 {
		above := (at - 1) / 2
		if !b.precedes(entry, *q.at(above)) {
			break
		}
		b.setEntry(q, at, *q.at(above))
		at = above
	}
	b.setEntry(q, at, entry)
	return at
}

// siftDown moves an entry behind those that precede it.
func (b *outbox) siftDown(q *webhookQueue, at int) {
	entry := *q.at(at)
	for {
		below := 2*at + 1
		if below >= q.n {
			break
		}
		if below+1 < q.n && b.precedes(*q.at(below + 1), *q.at(below)) {
			below++
		}
		if !b.precedes(*q.at(below), entry) {
			break
		}
		b.setEntry(q, at, *q.at(below))
		at = below
	}
	b.setEntry(q, at, entry)
}

func (b *outbox) precedes(x, y queueEntry) bool {
	if x.due != y.due {
		return x.due < y.due
	}
	return b.rows.at(int(x.row)).compare(b.rows.at(int(y.row))) < 0
}

// compare orders rows with the same time.
func (r *webhookRow) compare(other *webhookRow) int {
	return cmp.Or(cmp.Compare(r.Cause, other.Cause), cmp.Compare(r.Type, other.Type), bytes.Compare(r.Lead[:], other.Lead[:]))
}
