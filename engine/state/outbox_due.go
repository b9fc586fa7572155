package state

import (
	"bytes"
	"cmp"

	"pingpost/engine/market"
)

// A queue is a heap of an outbox's rows, the earliest first. Each row knows its
// place, so any one can leave.
type queue struct{ slab[queued] }

// queued has the row's time beside it: a comparison rarely looks at rows, each of
// which would be a cache miss.
type queued struct {
	when int64 // the row's Due
	row  uint32
}

// queueOf is where the row belongs if it belongs in a queue at all.
func (b *outbox) queueOf(row *hookRow) *queue {
	if row.Dead {
		return &b.dead
	}
	return &b.due
}

// arrange puts each of a lead's hooks into its queue or takes it out, by what the
// hooks before it allow. It is called after every change of one of them.
func (b *outbox) arrange(lead market.LeadID) {
	n, ok := b.first[lead]
	held := false
	for link := n + 1; ok && link != 0; {
		row := b.rows.at(int(link - 1))
		switch goes := row.Dead || !held && !b.isOut(row); {
		case goes && row.place == 0:
			b.enter(link - 1)
		case !goes:
			b.leave(link - 1)
		}
		held = held || !row.Dead && row.Attempts < 2
		link = row.next
	}
}

func (b *outbox) isOut(row *hookRow) bool {
	if len(b.out) == 0 {
		return false
	}
	_, out := b.out[row.name()]
	return out
}

// enter puts a row into its queue, where it must not be yet.
func (b *outbox) enter(n uint32) {
	row := b.rows.at(int(n))
	q := b.queueOf(row)
	q.push(&queued{row.Due, n})
	b.rise(q, q.n-1)
}

// leave takes a row out of its queue, if it is in one. A row has to leave before
// its time or its death is changed.
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

// put writes an entry and tells its row.
func (b *outbox) put(q *queue, at int, entry queued) {
	*q.at(at) = entry
	b.rows.at(int(entry.row)).place = uint32(at + 1)
}

// rise moves an entry to before those that it precedes, and returns its place.
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

// sink moves an entry to behind those that precede it.
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

// compare orders rows of one time.
func (r *hookRow) compare(other *hookRow) int {
	return cmp.Or(cmp.Compare(r.Cause, other.Cause), cmp.Compare(r.Type, other.Type), bytes.Compare(r.Lead[:], other.Lead[:]))
}
