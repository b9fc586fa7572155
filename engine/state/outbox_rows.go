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
	b.add(webhookRow{Lead: lead, Type: kind, Cause: seq, Created: at, Due: at, Dead: b.off})
	b.trim(at)
	b.mu.Unlock()
	s.outboxes.notify()
}

func (s *State) applyWebhookTried(seq uint64, at int64, e *event.WebhookTried) {
	if seq <= s.outboxes.shard(e.Supplier).loaded {
		return
	}
	b := s.outboxes.getOrCreate(e.Supplier)
	b.mu.Lock()
	b.applyTried(e, at)
	b.trim(at)
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
		b.killAll(at)
	} else {
		b.failing = 0
	}
	b.trim(at)
	b.mu.Unlock()
	s.outboxes.notify()
}

// applyTried applies an attempt's result, or an operator's decision.
func (b *outbox) applyTried(e *event.WebhookTried, at int64) {
	switch e.Outcome {
	case event.WebhookDelivered:
		b.failing = 0
		delete(b.inFlight, webhookName{e.Lead, e.Type})
	case event.WebhookFailed, event.WebhookDead:
		if b.failing == 0 {
			b.failing = max(e.At, 1)
		}
		delete(b.inFlight, webhookName{e.Lead, e.Type})
	}
	if n, ok := b.find(e.Lead, e.Type); ok {
		row := b.rows.at(int(n))
		late := row.Dead || e.Attempt != row.Attempts+1
		switch {
		case e.Outcome == event.WebhookDelivered, e.Outcome == event.WebhookDropped:
			b.remove(n)
		case e.Outcome == event.WebhookFailed && !late:
			b.change(n, e.Attempt, e.Due, false)
		case e.Outcome == event.WebhookDead && !late:
			b.change(n, e.Attempt, at, true)
		case e.Outcome == event.WebhookResent && !b.off:
			b.change(n, 0, at, false)
		}
	}
	b.arrange(e.Lead)
}

// add adds a webhook unless the outbox has it.
func (b *outbox) add(row webhookRow) {
	if _, ok := b.find(row.Lead, row.Type); ok {
		return
	}
	b.rows.push(&row)
	b.peakRows = max(b.peakRows, b.rows.n)
	b.sum += row.digest(b.supplier)
	b.link(uint32(b.rows.n - 1))
	b.arrange(row.Lead)
}

// change rewrites a webhook. The caller must call arrange after it.
func (b *outbox) change(n, attempts uint32, due int64, dead bool) {
	b.leave(n)
	row := b.rows.at(int(n))
	b.sum -= row.digest(b.supplier)
	row.Attempts, row.Due, row.Dead = attempts, due, dead
	b.sum += row.digest(b.supplier)
}

// remove removes a webhook; the last row takes its place. If it was pending, the caller
// must call arrange.
func (b *outbox) remove(n uint32) {
	b.leave(n)
	b.sum -= b.rows.at(int(n)).digest(b.supplier)
	b.unlink(n)
	if last := uint32(b.rows.n - 1); n != last {
		b.move(last, n)
	}
	b.rows.pop()
	if b.rows.n == 0 && b.peakRows > chunkRows {
		b.firstRow, b.peakRows = nil, 0 // a map never shrinks
	}
}

// move copies a row to a free place, and updates all references to its old place.
func (b *outbox) move(from, to uint32) {
	row := b.rows.at(int(to))
	*row = *b.rows.at(int(from))
	if row.place != 0 {
		b.queueOf(row).at(int(row.place - 1)).row = to
	}
	head := b.firstRow[row.Lead]
	if head == from {
		b.firstRow[row.Lead] = to
		return
	}
	b.before(head, from).next = to + 1
}

// before returns the row in front of n in the chain that begins at head.
func (b *outbox) before(head, n uint32) *webhookRow {
	row := b.rows.at(int(head))
	for row.next != n+1 {
		row = b.rows.at(int(row.next - 1))
	}
	return row
}

// killAll makes every pending webhook a dead letter and keeps the latest ones, up to the
// limit. It refills the outbox from the last row on, which is usually the latest: once the
// limit is reached, an earlier row costs one comparison.
func (b *outbox) killAll(at int64) {
	rows := b.rows
	b.rows, b.firstRow, b.peakRows, b.due, b.dead, b.sum = slab[webhookRow]{}, nil, 0, queue{}, queue{}, 0
	for i := rows.n - 1; i >= 0; i-- {
		row := *rows.at(i)
		row.next, row.place = 0, 0
		if !row.Dead {
			row.Dead, row.Due = true, at
		}
		if b.dead.n == b.limit {
			oldest := b.dead.at(0)
			b.dropped++
			if row.Due < oldest.when || row.Due == oldest.when && row.compare(b.rows.at(int(oldest.row))) < 0 {
				continue
			}
			b.remove(oldest.row)
		}
		b.add(row)
	}
}

// trim removes dead letters that are too many or too old. An event adds at most one, so
// removing two at a time keeps up.
func (b *outbox) trim(at int64) {
	for range 2 {
		if b.dead.n == 0 || b.dead.n <= b.limit && b.dead.at(0).when > at-deadLetterRetention {
			return
		}
		b.remove(b.dead.at(0).row)
		b.dropped++
	}
}

// find returns a webhook's row.
func (b *outbox) find(lead market.LeadID, kind market.WebhookType) (n uint32, ok bool) {
	n, ok = b.firstRow[lead]
	for link := n + 1; ok && link != 0; link = b.rows.at(int(link - 1)).next {
		if b.rows.at(int(link-1)).Type == kind {
			return link - 1, true
		}
	}
	return 0, false
}

// link inserts a row into its lead's chain, behind those with earlier causes.
func (b *outbox) link(n uint32) {
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

// unlink removes a row from its lead's chain.
func (b *outbox) unlink(n uint32) {
	row := b.rows.at(int(n))
	head := b.firstRow[row.Lead]
	switch {
	case head != n:
		b.before(head, n).next = row.next
	case row.next != 0:
		b.firstRow[row.Lead] = row.next - 1
	default:
		delete(b.firstRow, row.Lead)
	}
}

// queue is a heap of an outbox's rows, the earliest first. Each row stores its place, so
// any row can leave.
type queue struct{ slab[queued] }

// queued stores the row's time beside its number, so that a comparison rarely reads rows,
// which would be cache misses.
type queued struct {
	when int64 // the row's Due
	row  uint32
}

// queueOf returns the queue for the row.
func (b *outbox) queueOf(row *webhookRow) *queue {
	if row.Dead {
		return &b.dead
	}
	return &b.due
}

// arrange puts each of a lead's webhooks into its queue or takes it out, depending on the
// webhooks before it. Callers call it after every change of one of them.
func (b *outbox) arrange(lead market.LeadID) {
	n, ok := b.firstRow[lead]
	held := false
	for link := n + 1; ok && link != 0; {
		row := b.rows.at(int(link - 1))
		switch goes := row.Dead || !held && !b.isInFlight(row); {
		case goes && row.place == 0:
			b.enter(link - 1)
		case !goes:
			b.leave(link - 1)
		}
		held = held || !row.Dead && row.Attempts < 2
		link = row.next
	}
}

func (b *outbox) isInFlight(row *webhookRow) bool {
	if len(b.inFlight) == 0 {
		return false
	}
	_, out := b.inFlight[row.name()]
	return out
}

// enter puts a row into its queue. The row must not be in it.
func (b *outbox) enter(n uint32) {
	row := b.rows.at(int(n))
	q := b.queueOf(row)
	q.push(&queued{row.Due, n})
	b.rise(q, q.n-1)
}

// leave takes a row out of its queue, if it is in one. Callers call it before they change
// the row's time or state.
func (b *outbox) leave(n uint32) {
	row := b.rows.at(int(n))
	if row.place == 0 {
		return
	}
	q, at := b.queueOf(row), int(row.place-1)
	row.place = 0
	last := *q.at(q.n - 1)
	q.pop()
	if at < q.n {
		b.put(q, at, last)
		b.sink(q, b.rise(q, at))
	}
}

// put writes an entry and stores its place in the row.
func (b *outbox) put(q *queue, at int, entry queued) {
	*q.at(at) = entry
	b.rows.at(int(entry.row)).place = uint32(at + 1)
}

// rise moves an entry before those that it precedes, and returns its place.
func (b *outbox) rise(q *queue, at int) int {
	entry := *q.at(at)
	for at > 0 {
		above := (at - 1) / 2
		if !b.precedes(entry, *q.at(above)) {
			break
		}
		b.put(q, at, *q.at(above))
		at = above
	}
	b.put(q, at, entry)
	return at
}

// sink moves an entry behind those that precede it.
func (b *outbox) sink(q *queue, at int) {
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
		b.put(q, at, *q.at(below))
		at = below
	}
	b.put(q, at, entry)
}

func (b *outbox) precedes(x, y queued) bool {
	if x.when != y.when {
		return x.when < y.when
	}
	return b.rows.at(int(x.row)).compare(b.rows.at(int(y.row))) < 0
}

// compare orders rows with the same time.
func (r *webhookRow) compare(other *webhookRow) int {
	return cmp.Or(cmp.Compare(r.Cause, other.Cause), cmp.Compare(r.Type, other.Type), bytes.Compare(r.Lead[:], other.Lead[:]))
}
