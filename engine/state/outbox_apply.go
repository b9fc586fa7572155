package state

import (
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// letterKeep is how long a dead letter is kept.
const letterKeep = int64(30 * 24 * time.Hour)

// owe puts what a fact owes a supplier into its outbox.
func (s *State) owe(seq uint64, at int64, supplier market.Ref, lead market.LeadID, kind market.HookType) {
	if kind == market.HookNone {
		return
	}
	if supplier == 0 {
		panic("BUG: a fact owes a hook and says not to whom")
	}
	if seq <= s.outboxes.shard(supplier).loaded {
		return
	}
	b := s.outboxes.open(supplier)
	b.mu.Lock()
	b.add(hookRow{Lead: lead, Type: kind, Cause: seq, Created: at, Due: at, Dead: b.off})
	b.trim(at)
	b.mu.Unlock()
	s.outboxes.signal()
}

func (s *State) applyHookTried(seq uint64, at int64, e *event.HookTried) {
	if seq <= s.outboxes.shard(e.Supplier).loaded {
		return
	}
	b := s.outboxes.open(e.Supplier)
	b.mu.Lock()
	b.tried(e, at)
	b.trim(at)
	b.mu.Unlock()
	s.outboxes.signal()
}

func (s *State) applyHooksSwitched(seq uint64, at int64, e *event.HooksSwitched) {
	if seq <= s.outboxes.shard(e.Supplier).loaded {
		return
	}
	b := s.outboxes.open(e.Supplier)
	b.mu.Lock()
	if b.off = e.Off; e.Off {
		b.kill(at)
	} else {
		b.failing = 0
	}
	b.trim(at)
	b.mu.Unlock()
	s.outboxes.signal()
}

// tried enters what an attempt came to, or an operator's word.
func (b *outbox) tried(e *event.HookTried, at int64) {
	switch e.Outcome {
	case event.HookDelivered:
		b.failing = 0
		delete(b.out, hookName{e.Lead, e.Type})
	case event.HookFailed, event.HookDead:
		if b.failing == 0 {
			b.failing = max(e.At, 1)
		}
		delete(b.out, hookName{e.Lead, e.Type})
	}
	if n, ok := b.find(e.Lead, e.Type); ok {
		row := b.rows.at(int(n))
		late := row.Dead || e.Attempt != row.Attempts+1
		switch {
		case e.Outcome == event.HookDelivered, e.Outcome == event.HookDropped:
			b.remove(n)
		case e.Outcome == event.HookFailed && !late:
			b.change(n, e.Attempt, e.Due, false)
		case e.Outcome == event.HookDead && !late:
			b.change(n, e.Attempt, at, true)
		case e.Outcome == event.HookResent && !b.off:
			b.change(n, 0, at, false)
		}
	}
	b.arrange(e.Lead)
}

// add takes a hook in, unless it is there.
func (b *outbox) add(row hookRow) {
	if _, ok := b.find(row.Lead, row.Type); ok {
		return
	}
	b.rows.push(&row)
	b.sum += row.digest(b.supplier)
	b.link(uint32(b.rows.n - 1))
	b.arrange(row.Lead)
}

// change rewrites a hook; arrange has to follow.
func (b *outbox) change(n, attempts uint32, due int64, dead bool) {
	b.leave(n)
	row := b.rows.at(int(n))
	b.sum -= row.digest(b.supplier)
	row.Attempts, row.Due, row.Dead = attempts, due, dead
	b.sum += row.digest(b.supplier)
}

// remove takes a hook out, and the last row takes its place. Where it was pending,
// arrange has to follow.
func (b *outbox) remove(n uint32) {
	b.leave(n)
	b.sum -= b.rows.at(int(n)).digest(b.supplier)
	b.unlink(n)
	if last := uint32(b.rows.n - 1); n != last {
		b.move(last, n)
	}
	b.rows.pop()
	if b.rows.n == 0 {
		b.first = nil // a map keeps the room of all that it ever had
	}
}

// move puts a row where none is, and tells all that knows it by its old place.
func (b *outbox) move(from, to uint32) {
	row := b.rows.at(int(to))
	*row = *b.rows.at(int(from))
	if row.place != 0 {
		b.queueOf(row).at(int(row.place - 1)).row = to
	}
	head := b.first[row.Lead]
	if head == from {
		b.first[row.Lead] = to
		return
	}
	b.before(head, from).next = to + 1
}

// before is the row in front of n in the chain that begins at head.
func (b *outbox) before(head, n uint32) *hookRow {
	row := b.rows.at(int(head))
	for row.next != n+1 {
		row = b.rows.at(int(row.next - 1))
	}
	return row
}

// kill makes every pending hook a dead letter, and keeps the latest as far as
// there is room. The outbox is filled anew, the last row first: that is mostly the
// latest, and once the room is taken an earlier one costs a comparison.
func (b *outbox) kill(at int64) {
	rows := b.rows
	b.rows, b.first, b.due, b.dead, b.sum = slab[hookRow]{}, nil, queue{}, queue{}, 0
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

// trim lets go of dead letters that are too many, or too old. A fact adds one at
// most, so two at a time are more than come.
func (b *outbox) trim(at int64) {
	for range 2 {
		if b.dead.n == 0 || b.dead.n <= b.limit && b.dead.at(0).when > at-letterKeep {
			return
		}
		b.remove(b.dead.at(0).row)
		b.dropped++
	}
}

// find returns a hook's row.
func (b *outbox) find(lead market.LeadID, kind market.HookType) (n uint32, ok bool) {
	n, ok = b.first[lead]
	for link := n + 1; ok && link != 0; link = b.rows.at(int(link - 1)).next {
		if b.rows.at(int(link-1)).Type == kind {
			return link - 1, true
		}
	}
	return 0, false
}

// link enters a row into its lead's chain, behind those that were caused before.
func (b *outbox) link(n uint32) {
	if b.first == nil {
		b.first = make(map[market.LeadID]uint32)
	}
	row := b.rows.at(int(n))
	head, ok := b.first[row.Lead]
	if !ok || row.compare(b.rows.at(int(head))) < 0 {
		row.next = 0
		if ok {
			row.next = head + 1
		}
		b.first[row.Lead] = n
		return
	}
	before := b.rows.at(int(head))
	for before.next != 0 && b.rows.at(int(before.next-1)).compare(row) < 0 {
		before = b.rows.at(int(before.next - 1))
	}
	row.next, before.next = before.next, n+1
}

// unlink takes a row out of its lead's chain.
func (b *outbox) unlink(n uint32) {
	row := b.rows.at(int(n))
	head := b.first[row.Lead]
	switch {
	case head != n:
		b.before(head, n).next = row.next
	case row.next != 0:
		b.first[row.Lead] = row.next - 1
	default:
		delete(b.first, row.Lead)
	}
}
