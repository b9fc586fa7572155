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
func (s *State) enqueueWebhook(seq uint64, batchTime int64, supplier market.Ref, lead market.LeadID, kind market.WebhookType) {
	if kind == market.WebhookNone {
		return
	}
	if supplier == 0 {
		panic("BUG: an event causes a webhook without a supplier")
	}
	if seq <= s.outboxes.shardOf(supplier).loaded {
		return
	}
	b := s.outboxes.getOrCreate(supplier)
	b.mu.Lock()
	b.addRowIfMissing(webhookRow{Lead: lead, Type: kind, Cause: seq, Created: batchTime, Due: batchTime, Dead: b.off})
	b.removeExcessDeadLetters(batchTime)
	b.mu.Unlock()
	s.outboxes.notifySender()
}

func (s *State) applyWebhookAttempted(seq uint64, batchTime int64, e *event.WebhookAttempted) {
	if seq <= s.outboxes.shardOf(e.Supplier).loaded {
		return
	}
	b := s.outboxes.getOrCreate(e.Supplier)
	b.mu.Lock()
	b.applyAttemptResult(e, batchTime)
	b.removeExcessDeadLetters(batchTime)
	b.mu.Unlock()
	s.outboxes.notifySender()
}

func (s *State) applyWebhooksSwitched(seq uint64, batchTime int64, e *event.WebhooksSwitched) {
	if seq <= s.outboxes.shardOf(e.Supplier).loaded {
		return
	}
	b := s.outboxes.getOrCreate(e.Supplier)
	b.mu.Lock()
	if b.off = e.Off; e.Off {
		b.makeAllDeadLetters(batchTime)
	} else {
		b.failingSince = 0
	}
	b.removeExcessDeadLetters(batchTime)
	b.mu.Unlock()
	s.outboxes.notifySender()
}

// applyAttemptResult applies an attempt's result, or an operator's decision.
func (b *webhookOutbox) applyAttemptResult(e *event.WebhookAttempted, batchTime int64) {
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
			b.rewriteRow(n, e.Attempt, e.Due, false)
		case e.Outcome == event.WebhookDead && !late:
			b.rewriteRow(n, e.Attempt, batchTime, true)
		case e.Outcome == event.WebhookResent && !b.off:
			b.rewriteRow(n, 0, batchTime, false)
		}
	}
	b.updateHeapsOfLead(e.Lead)
}

// addRowIfMissing adds a webhook unless the outbox has it.
func (b *webhookOutbox) addRowIfMissing(row webhookRow) {
	if _, ok := b.findRow(row.Lead, row.Type); ok {
		return
	}
	b.rows.push(&row)
	b.peakRows = max(b.peakRows, b.rows.n)
	b.sum += row.digest(b.supplier)
	b.insertIntoLeadChain(uint32(b.rows.n - 1))
	b.updateHeapsOfLead(row.Lead)
}

// rewriteRow rewrites a webhook. The caller must call updateHeapsOfLead after it.
func (b *webhookOutbox) rewriteRow(position, attempts uint32, due int64, dead bool) {
	b.removeFromHeap(position)
	row := b.rows.at(int(position))
	b.sum -= row.digest(b.supplier)
	row.Attempts, row.Due, row.Dead = attempts, due, dead
	b.sum += row.digest(b.supplier)
}

// removeRow removes a webhook; the last row takes its place. If it was pending, the caller
// must call updateHeapsOfLead.
func (b *webhookOutbox) removeRow(position uint32) {
	b.removeFromHeap(position)
	b.sum -= b.rows.at(int(position)).digest(b.supplier)
	b.removeFromLeadChain(position)
	if last := uint32(b.rows.n - 1); position != last {
		b.moveRow(last, position)
	}
	b.rows.pop()
	if b.rows.n == 0 && b.peakRows > chunkRows {
		b.firstRow, b.peakRows = nil, 0 // a map never shrinks
	}
}

// moveRow copies a row to a free place, and updates all references to its old place.
func (b *webhookOutbox) moveRow(from, to uint32) {
	row := b.rows.at(int(to))
	*row = *b.rows.at(int(from))
	if row.queuePosition != 0 {
		b.heapOf(row).at(int(row.queuePosition - 1)).row = to
	}
	head := b.firstRow[row.Lead]
	if head == from {
		b.firstRow[row.Lead] = to
		return
	}
	b.predecessorInLead(head, from).next = to + 1
}

// predecessorInLead returns the row in front of position in the chain that begins at firstRow.
func (b *webhookOutbox) predecessorInLead(firstRow, position uint32) *webhookRow {
	row := b.rows.at(int(firstRow))
	for row.next != position+1 {
		row = b.rows.at(int(row.next - 1))
	}
	return row
}

// makeAllDeadLetters makes every pending webhook a dead letter and keeps the latest ones, up to the
// limit. It refills the outbox from the last row on, which is usually the latest: once the
// limit is reached, an earlier row costs one comparison.
func (b *webhookOutbox) makeAllDeadLetters(batchTime int64) {
	rows := b.rows
	b.rows, b.firstRow, b.peakRows, b.due, b.dead, b.sum = slab[webhookRow]{}, nil, 0, webhookHeap{}, webhookHeap{}, 0
	for i := rows.n - 1; i >= 0; i-- {
		row := *rows.at(i)
		row.next, row.queuePosition = 0, 0
		if !row.Dead {
			row.Dead, row.Due = true, batchTime
		}
		if b.dead.n == b.maxDead {
			oldest := b.dead.at(0)
			b.dropped++
			if row.Due < oldest.due || row.Due == oldest.due && row.compareCauseTypeLead(b.rows.at(int(oldest.row))) < 0 {
				continue
			}
			b.removeRow(oldest.row)
		}
		b.addRowIfMissing(row)
	}
}

// removeExcessDeadLetters removes dead letters that are too many or too old. An event adds batchTime most one, so
// removing two batchTime a time keeps up.
func (b *webhookOutbox) removeExcessDeadLetters(batchTime int64) {
	for range 2 {
		if b.dead.n == 0 || b.dead.n <= b.maxDead && b.dead.at(0).due > batchTime-deadLetterRetention {
			return
		}
		b.removeRow(b.dead.at(0).row)
		b.dropped++
	}
}

// findRow returns a webhook's row.
func (b *webhookOutbox) findRow(lead market.LeadID, kind market.WebhookType) (position uint32, ok bool) {
	position, ok = b.firstRow[lead]
	for link := position + 1; ok && link != 0; link = b.rows.at(int(link - 1)).next {
		if b.rows.at(int(link-1)).Type == kind {
			return link - 1, true
		}
	}
	return 0, false
}

// insertIntoLeadChain inserts a row into its lead's chain, behind those with earlier causes.
func (b *webhookOutbox) insertIntoLeadChain(position uint32) {
	if b.firstRow == nil {
		b.firstRow = make(map[market.LeadID]uint32)
	}
	row := b.rows.at(int(position))
	head, ok := b.firstRow[row.Lead]
	if !ok || row.compareCauseTypeLead(b.rows.at(int(head))) < 0 {
		row.next = 0
		if ok {
			row.next = head + 1
		}
		b.firstRow[row.Lead] = position
		return
	}
	before := b.rows.at(int(head))
	for before.next != 0 && b.rows.at(int(before.next-1)).compareCauseTypeLead(row) < 0 {
		before = b.rows.at(int(before.next - 1))
	}
	row.next, before.next = before.next, position+1
}

// removeFromLeadChain removes a row from its lead's chain.
func (b *webhookOutbox) removeFromLeadChain(position uint32) {
	row := b.rows.at(int(position))
	head := b.firstRow[row.Lead]
	switch {
	case head != position:
		b.predecessorInLead(head, position).next = row.next
	case row.next != 0:
		b.firstRow[row.Lead] = row.next - 1
	default:
		delete(b.firstRow, row.Lead)
	}
}

// webhookHeap is a heap of an outbox's rows, the earliest first. Each row stores its place, so
// any row can leave.
type webhookHeap struct{ slab[heapEntry] }

// heapEntry stores the row's time beside its number, so that a comparison rarely reads rows,
// which would be cache misses.
type heapEntry struct {
	due int64 // the row's Due
	row uint32
}

// heapOf returns the queue for the row.
func (b *webhookOutbox) heapOf(row *webhookRow) *webhookHeap {
	if row.Dead {
		return &b.dead
	}
	return &b.due
}

// updateHeapsOfLead puts each of a lead's webhooks into its queue or takes it out, depending on the
// webhooks before it. Callers call it after every change of one of them.
func (b *webhookOutbox) updateHeapsOfLead(lead market.LeadID) {
	n, ok := b.firstRow[lead]
	held := false
	for link := n + 1; ok && link != 0; {
		row := b.rows.at(int(link - 1))
		switch goes := row.Dead || !held && !b.isInFlight(row); {
		case goes && row.queuePosition == 0:
			b.pushToHeap(link - 1)
		case !goes:
			b.removeFromHeap(link - 1)
		}
		held = held || !row.Dead && row.Attempts < 2
		link = row.next
	}
}

func (b *webhookOutbox) isInFlight(row *webhookRow) bool {
	if len(b.inFlight) == 0 {
		return false
	}
	_, out := b.inFlight[row.key()]
	return out
}

// pushToHeap puts a row into its queue. The row must not be in it.
func (b *webhookOutbox) pushToHeap(position uint32) {
	row := b.rows.at(int(position))
	q := b.heapOf(row)
	q.push(&heapEntry{row.Due, position})
	b.siftUp(q, q.n-1)
}

// removeFromHeap takes a row out of its queue, if it is in one. Callers call it before they change
// the row's time or state.
func (b *webhookOutbox) removeFromHeap(position uint32) {
	row := b.rows.at(int(position))
	if row.queuePosition == 0 {
		return
	}
	q, at := b.heapOf(row), int(row.queuePosition-1)
	row.queuePosition = 0
	last := *q.at(q.n - 1)
	q.pop()
	if at < q.n {
		b.setHeapEntry(q, at, last)
		b.siftDown(q, b.siftUp(q, at))
	}
}

// setHeapEntry writes an entry and stores its place in the row.
func (b *webhookOutbox) setHeapEntry(q *webhookHeap, at int, entry heapEntry) {
	*q.at(at) = entry
	b.rows.at(int(entry.row)).queuePosition = uint32(at + 1)
}

// siftUp moves an entry before those that it precedes, and returns its place.
func (b *webhookOutbox) siftUp(q *webhookHeap, at int) int {
	entry := *q.at(at)
	for at > 0 {
		above := (at - 1) / 2
		if !b.precedes(entry, *q.at(above)) {
			break
		}
		b.setHeapEntry(q, at, *q.at(above))
		at = above
	}
	b.setHeapEntry(q, at, entry)
	return at
}

// siftDown moves an entry behind those that precede it.
func (b *webhookOutbox) siftDown(q *webhookHeap, at int) {
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
		b.setHeapEntry(q, at, *q.at(below))
		at = below
	}
	b.setHeapEntry(q, at, entry)
}

func (b *webhookOutbox) precedes(x, y heapEntry) bool {
	if x.due != y.due {
		return x.due < y.due
	}
	return b.rows.at(int(x.row)).compareCauseTypeLead(b.rows.at(int(y.row))) < 0
}

// compareCauseTypeLead orders rows with the same time.
func (r *webhookRow) compareCauseTypeLead(other *webhookRow) int {
	return cmp.Or(cmp.Compare(r.Cause, other.Cause), cmp.Compare(r.Type, other.Type), bytes.Compare(r.Lead[:], other.Lead[:]))
}
