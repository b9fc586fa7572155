package state

import "pingpost/engine/market"

// hookLeast is a lower bound of a hook's bytes in a section.
const hookLeast = 32

func (r *hookRow) write(w *writer) {
	w.raw(r.Lead[:])
	w.raw([]byte{byte(r.Type), byte(flag(r.Dead))})
	w.uint(r.Cause)
	w.fixed(uint64(r.Created))
	w.fixed(uint64(r.Due))
	w.uint(uint64(r.Attempts))
}

func (r *hookRow) read(from *reader) {
	copy(r.Lead[:], from.raw(16))
	if small := from.raw(2); len(small) == 2 {
		r.Type, r.Dead = market.HookType(small[0]), small[1] != 0
	}
	r.Cause, r.Created, r.Due, r.Attempts = from.uint(), int64(from.fixed()), int64(from.fixed()), uint32(from.uint())
}

// copyTo copies a shard's outboxes while Apply is excluded; what it returns encodes
// the copy.
func (shard *outboxShard) copyTo(body *writer, scratch *[]hookRow) func() {
	if len(shard.boxes) == 0 {
		body.uint(0)
		return nil
	}
	heads := make([]outboxHead, 0, len(shard.boxes))
	*scratch = (*scratch)[:0]
	for _, b := range shard.boxes {
		b.mu.Lock()
		heads = append(heads, outboxHead{b.supplier, b.dropped, b.failing, b.off, b.rows.n})
		*scratch = b.rows.appendTo(*scratch)
		b.mu.Unlock()
	}
	return func() {
		rows := *scratch
		body.uint(uint64(len(heads)))
		for _, head := range heads {
			head.write(body)
			for i := range rows[:head.rows] {
				rows[i].write(body)
			}
			rows = rows[head.rows:]
		}
	}
}

// outboxHead is what stands before an outbox's rows.
type outboxHead struct {
	supplier market.Ref
	dropped  uint64
	failing  int64
	off      bool
	rows     int
}

func (h *outboxHead) write(w *writer) {
	w.uint(uint64(h.supplier))
	w.uint(h.dropped)
	w.int(h.failing)
	w.bool(h.off)
	w.uint(uint64(h.rows))
}

func (h *outboxHead) read(r *reader) {
	h.supplier, h.dropped, h.failing, h.off = market.Ref(r.uint()), r.uint(), r.int(), r.bool()
	h.rows = r.count()
}

// loadShard reads a shard's outboxes. A hook that is there twice is damage.
func (o *outboxes) loadShard(shard int, body *reader) {
	for range body.count() {
		var head outboxHead
		head.read(body)
		if int(head.supplier)%shards != shard || o.of(head.supplier) != nil || head.rows*hookLeast > len(body.buf) {
			body.fail()
		}
		if body.err != nil {
			return
		}
		b := o.open(head.supplier)
		b.dropped, b.failing, b.off = head.dropped, head.failing, head.off
		b.first = make(map[market.LeadID]uint32, head.rows)
		for range head.rows {
			var row hookRow
			row.read(body)
			if b.add(row); body.err != nil {
				return
			}
		}
		if b.rows.n != head.rows {
			body.fail()
			return
		}
	}
}
