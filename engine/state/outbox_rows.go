package state

import (
	"bytes"
	"cmp"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// deadLetterRetention is the age in nanoseconds at which a dead letter is removed.
const deadLetterRetention = int64(30 * 24 * time.Hour)

// enqueueWebhook adds the webhook that the event causeSeq triggers to the supplier's outbox, due at
// once. If the outbox is off, the webhook becomes a dead letter. WebhookNone adds no webhook. An
// event that the loaded snapshot contains already is skipped.
func (s *State) enqueueWebhook(causeSeq uint64, batchUnixNanos int64, supplier market.PermanentNumber, lead market.LeadID, webhookType market.WebhookType) {
	if webhookType == market.WebhookNone {
		return
	}
	if supplier == 0 {
		panic("BUG: an event causes a webhook without a supplier")
	}
	if causeSeq <= s.outboxes.outboxShardOf(supplier).loaded {
		return
	}
	b := s.outboxes.getOrCreateOutbox(supplier)
	b.mu.Lock()
	b.addRowIfMissing(webhookRow{Lead: lead, Type: webhookType, Cause: causeSeq, Created: batchUnixNanos, Due: batchUnixNanos, Dead: b.off})
	b.removeAFewOldOrExcessDeadLetters(batchUnixNanos)
	b.mu.Unlock()
	s.outboxes.notifySender()
}

// applyWebhookAttemptedOrDecided applies the result of a webhook attempt, or an operator's decision on a
// dead letter, to the supplier's outbox.
func (s *State) applyWebhookAttemptedOrDecided(seq uint64, batchUnixNanos int64, e *event.WebhookAttemptedOrDecided) {
	if seq <= s.outboxes.outboxShardOf(e.Supplier).loaded {
		return
	}
	b := s.outboxes.getOrCreateOutbox(e.Supplier)
	b.mu.Lock()
	b.applyAttemptOrOperatorDecision(e, batchUnixNanos)
	b.removeAFewOldOrExcessDeadLetters(batchUnixNanos)
	b.mu.Unlock()
	s.outboxes.notifySender()
}

// applyWebhooksTurnedOnOrOff turns a supplier's webhooks off or on. Turning them off makes all pending
// webhooks dead letters.
func (s *State) applyWebhooksTurnedOnOrOff(seq uint64, batchUnixNanos int64, e *event.SupplierWebhooksTurnedOnOrOff) {
	if seq <= s.outboxes.outboxShardOf(e.Supplier).loaded {
		return
	}
	b := s.outboxes.getOrCreateOutbox(e.Supplier)
	b.mu.Lock()
	if b.off = e.Off; e.Off {
		b.turnPendingIntoDeadLetters(batchUnixNanos)
	} else {
		b.failingSince = 0
	}
	b.removeAFewOldOrExcessDeadLetters(batchUnixNanos)
	b.mu.Unlock()
	s.outboxes.notifySender()
}

// applyAttemptOrOperatorDecision updates or removes the event's webhook. The event records the result of an
// attempt (delivered, failed, dead) or an operator's decision (dropped, resent).
//
// A failure does not change a webhook that died or was resent since the attempt began. A resend
// changes nothing while the outbox is off. A webhook that the outbox no longer has is ignored.
func (b *supplierWebhookOutbox) applyAttemptOrOperatorDecision(e *event.WebhookAttemptedOrDecided, batchUnixNanos int64) {
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
			b.removeFromHeapAndUpdateRow(n, e.Attempt, e.Due, false)
		case e.Outcome == event.WebhookDead && !late:
			b.removeFromHeapAndUpdateRow(n, e.Attempt, batchUnixNanos, true)
		case e.Outcome == event.WebhookResent && !b.off:
			b.removeFromHeapAndUpdateRow(n, 0, batchUnixNanos, false)
		}
	}
	b.updateDueAndDeadHeapsForLead(e.Lead)
}

// addRowIfMissing adds a webhook, unless the outbox already has a webhook of this lead and type.
func (b *supplierWebhookOutbox) addRowIfMissing(row webhookRow) {
	if _, ok := b.findRow(row.Lead, row.Type); ok {
		return
	}
	b.rows.push(&row)
	b.peakRows = max(b.peakRows, b.rows.n)
	b.sum += row.contentHash(b.supplier)
	b.insertIntoLeadChain(uint32(b.rows.n - 1))
	b.updateDueAndDeadHeapsForLead(row.Lead)
}

// removeFromHeapAndUpdateRow sets the attempts, due time and dead state of the webhook at position, and
// takes it out of its queue. The caller must then call updateDueAndDeadHeapsForLead, which queues it again.
func (b *supplierWebhookOutbox) removeFromHeapAndUpdateRow(position, attempts uint32, dueUnixNanos int64, dead bool) {
	b.removeRowFromHeap(position)
	row := b.rows.at(int(position))
	b.sum -= row.contentHash(b.supplier)
	row.Attempts, row.Due, row.Dead = attempts, dueUnixNanos, dead
	b.sum += row.contentHash(b.supplier)
}

// removeRow removes the webhook at position and moves the last row there, so that the list has no
// gaps. If the removed webhook was pending, the caller must then call updateDueAndDeadHeapsForLead.
func (b *supplierWebhookOutbox) removeRow(position uint32) {
	b.removeRowFromHeap(position)
	b.sum -= b.rows.at(int(position)).contentHash(b.supplier)
	b.removeFromLeadChain(position)
	if last := uint32(b.rows.n - 1); position != last {
		b.moveRow(last, position)
	}
	b.rows.pop()
	if b.rows.n == 0 && b.peakRows > chunkRows {
		b.firstRow, b.peakRows = nil, 0 // a map never shrinks
	}
}

// moveRow copies the row at position from to the unused position to. It updates the queue entry
// and the lead chain that refer to the row.
func (b *supplierWebhookOutbox) moveRow(from, to uint32) {
	row := b.rows.at(int(to))
	*row = *b.rows.at(int(from))
	if row.queuePosition != 0 {
		b.dueOrDeadHeapOf(row).at(int(row.queuePosition - 1)).row = to
	}
	head := b.firstRow[row.Lead]
	if head == from {
		b.firstRow[row.Lead] = to
		return
	}
	b.predecessorInLeadChain(head, from).next = to + 1
}

// predecessorInLeadChain returns the row before position in the chain of a lead's webhooks. The chain
// begins at firstRow and must contain position behind it.
func (b *supplierWebhookOutbox) predecessorInLeadChain(firstRow, position uint32) *webhookRow {
	row := b.rows.at(int(firstRow))
	for row.next != position+1 {
		row = b.rows.at(int(row.next - 1))
	}
	return row
}

// turnPendingIntoDeadLetters makes every pending webhook a dead letter. It keeps the latest dead letters
// up to maxDead and counts the others as dropped.
//
// It refills the outbox from the last row on, which is usually the latest. Once the limit is
// reached, an earlier row then costs one comparison.
func (b *supplierWebhookOutbox) turnPendingIntoDeadLetters(batchUnixNanos int64) {
	rows := b.rows
	b.rows, b.firstRow, b.peakRows, b.due, b.dead, b.sum = chunkedRowList[webhookRow]{}, nil, 0, webhookHeap{}, webhookHeap{}, 0
	for i := rows.n - 1; i >= 0; i-- {
		row := *rows.at(i)
		row.next, row.queuePosition = 0, 0
		if !row.Dead {
			row.Dead, row.Due = true, batchUnixNanos
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

// removeAFewOldOrExcessDeadLetters removes up to two dead letters, the oldest first, that exceed
// maxDead or are older than deadLetterRetention at batchUnixNanos. It runs after each webhook that
// is added or changed, so two removals keep up. (turnPendingIntoDeadLetters applies maxDead itself.)
func (b *supplierWebhookOutbox) removeAFewOldOrExcessDeadLetters(batchUnixNanos int64) {
	for range 2 {
		if b.dead.n == 0 || b.dead.n <= b.maxDead && b.dead.at(0).due > batchUnixNanos-deadLetterRetention {
			return
		}
		b.removeRow(b.dead.at(0).row)
		b.dropped++
	}
}

// findRow returns the position of the webhook of this lead and type. found is false if the outbox
// has none.
func (b *supplierWebhookOutbox) findRow(lead market.LeadID, webhookType market.WebhookType) (position uint32, found bool) {
	position, found = b.firstRow[lead]
	for link := position + 1; found && link != 0; link = b.rows.at(int(link - 1)).next {
		if b.rows.at(int(link-1)).Type == webhookType {
			return link - 1, true
		}
	}
	return 0, false
}

// insertIntoLeadChain inserts the row at position into the chain of its lead's webhooks, which is
// sorted by cause.
func (b *supplierWebhookOutbox) insertIntoLeadChain(position uint32) {
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

// removeFromLeadChain takes the row at position out of the chain of its lead's webhooks.
func (b *supplierWebhookOutbox) removeFromLeadChain(position uint32) {
	row := b.rows.at(int(position))
	head := b.firstRow[row.Lead]
	switch {
	case head != position:
		b.predecessorInLeadChain(head, position).next = row.next
	case row.next != 0:
		b.firstRow[row.Lead] = row.next - 1
	default:
		delete(b.firstRow, row.Lead)
	}
}

// webhookHeap is a priority queue of an outbox's rows, the earliest first. Each row stores its
// index in the heap, so that any row can be removed without a search.
type webhookHeap struct{ chunkedRowList[heapEntry] }

// heapEntry is a heap's reference to a row. It repeats the row's due time, so that a comparison
// rarely reads the rows themselves, which would be cache misses.
type heapEntry struct {
	due int64 // the row's Due
	row uint32
}

// dueOrDeadHeapOf returns the heap that the row belongs to: dead for a dead letter, due for a pending
// webhook.
func (b *supplierWebhookOutbox) dueOrDeadHeapOf(row *webhookRow) *webhookHeap {
	if row.Dead {
		return &b.dead
	}
	return &b.due
}

// updateDueAndDeadHeapsForLead adds a lead's webhooks to their heaps or takes them out. A pending webhook is
// in the due heap if it is not in flight and no earlier webhook of the lead holds it back. An
// earlier pending one holds later ones back until it has failed twice. A dead letter is always in
// the dead heap. Callers call it after each change of a webhook of the lead.
func (b *supplierWebhookOutbox) updateDueAndDeadHeapsForLead(lead market.LeadID) {
	n, ok := b.firstRow[lead]
	held := false
	for link := n + 1; ok && link != 0; {
		row := b.rows.at(int(link - 1))
		switch goes := row.Dead || !held && !b.isInFlight(row); {
		case goes && row.queuePosition == 0:
			b.pushRowToHeap(link - 1)
		case !goes:
			b.removeRowFromHeap(link - 1)
		}
		held = held || !row.Dead && row.Attempts < 2
		link = row.next
	}
}

// isInFlight reports whether a sender has claimed the webhook and its result is not applied yet.
func (b *supplierWebhookOutbox) isInFlight(row *webhookRow) bool {
	if len(b.inFlight) == 0 {
		return false
	}
	_, out := b.inFlight[row.key()]
	return out
}

// pushRowToHeap adds the row at rowPosition to its heap. The row must be in no heap.
func (b *supplierWebhookOutbox) pushRowToHeap(rowPosition uint32) {
	row := b.rows.at(int(rowPosition))
	q := b.dueOrDeadHeapOf(row)
	q.push(&heapEntry{row.Due, rowPosition})
	b.siftUp(q, q.n-1)
}

// removeRowFromHeap takes the row at rowPosition out of its heap, and does nothing for a row in no
// heap. Callers call it before they change the row's due time or dead state.
func (b *supplierWebhookOutbox) removeRowFromHeap(rowPosition uint32) {
	row := b.rows.at(int(rowPosition))
	if row.queuePosition == 0 {
		return
	}
	q, at := b.dueOrDeadHeapOf(row), int(row.queuePosition-1)
	row.queuePosition = 0
	last := *q.at(q.n - 1)
	q.pop()
	if at < q.n {
		b.setHeapEntry(q, at, last)
		b.siftDown(q, b.siftUp(q, at))
	}
}

// setHeapEntry writes an entry at this index of the heap, and stores this index in the entry's row.
func (b *supplierWebhookOutbox) setHeapEntry(heap *webhookHeap, index int, entry heapEntry) {
	*heap.at(index) = entry
	b.rows.at(int(entry.row)).queuePosition = uint32(index + 1)
}

// siftUp moves the entry at index towards the root until its parent precedes it. It returns
// the entry's new index.
func (b *supplierWebhookOutbox) siftUp(heap *webhookHeap, index int) int {
	entry := *heap.at(index)
	for index > 0 {
		above := (index - 1) / 2
		if !b.precedes(entry, *heap.at(above)) {
			break
		}
		b.setHeapEntry(heap, index, *heap.at(above))
		index = above
	}
	b.setHeapEntry(heap, index, entry)
	return index
}

// siftDown moves the entry at index away from the root until it precedes its children.
func (b *supplierWebhookOutbox) siftDown(heap *webhookHeap, index int) {
	entry := *heap.at(index)
	for {
		below := 2*index + 1
		if below >= heap.n {
			break
		}
		if below+1 < heap.n && b.precedes(*heap.at(below + 1), *heap.at(below)) {
			below++
		}
		if !b.precedes(*heap.at(below), entry) {
			break
		}
		b.setHeapEntry(heap, index, *heap.at(below))
		index = below
	}
	b.setHeapEntry(heap, index, entry)
}

// precedes reports whether x comes before y in a heap: by due time, then by cause, type and lead.
func (b *supplierWebhookOutbox) precedes(x, y heapEntry) bool {
	if x.due != y.due {
		return x.due < y.due
	}
	return b.rows.at(int(x.row)).compareCauseTypeLead(b.rows.at(int(y.row))) < 0
}

// compareCauseTypeLead compares rows by cause, type and lead. It sorts a lead's chain, and orders
// rows with equal due times.
func (r *webhookRow) compareCauseTypeLead(other *webhookRow) int {
	return cmp.Or(cmp.Compare(r.Cause, other.Cause), cmp.Compare(r.Type, other.Type), bytes.Compare(r.Lead[:], other.Lead[:]))
}
