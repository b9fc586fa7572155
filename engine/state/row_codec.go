package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

func (l *Lead) write(w *writer) {
	w.raw(l.ID[:])
	w.raw(l.Request[:])
	w.int(int64(l.Price))
	w.int(int64(l.Payout))
	w.fixed(uint64(l.Decided))
	w.uint(l.Seq)
	w.uint(l.Settled)
	w.uint(uint64(l.Keep))
	w.uint(uint64(l.Campaign))
	w.uint(uint64(l.Supplier))
	w.uint(uint64(l.Buyer))
	w.raw(l.Currency[:])
	w.raw([]byte{byte(l.Status), byte(l.Delivery), byte(l.Reason), byte(l.Answer), byte(l.LeadMarks)})
}

func (l *Lead) read(r *reader) {
	copy(l.ID[:], r.raw(16))
	copy(l.Request[:], r.raw(16))
	l.Price, l.Payout = market.Money(r.int()), market.Money(r.int())
	l.Decided, l.Seq, l.Settled, l.Keep = int64(r.fixed()), r.uint(), r.uint(), uint32(r.uint())
	l.Campaign, l.Supplier, l.Buyer = market.Ref(r.uint()), market.Ref(r.uint()), market.Ref(r.uint())
	copy(l.Currency[:], r.raw(3))
	if small := r.raw(5); len(small) == 5 {
		l.Status, l.Delivery = market.Status(small[0]), market.Delivery(small[1])
		l.Reason, l.Answer, l.LeadMarks = market.Reason(small[2]), Answer(small[3]), LeadMarks(small[4])
	}
}

func (k *keyRow) write(w *writer) {
	w.raw(k.Key[:])
	w.raw(k.By[:])
	w.fixed(k.Print)
	w.uint(uint64(k.Until))
	w.uint(uint64(k.Kind))
}

func (k *keyRow) read(r *reader) {
	copy(k.Key[:], r.raw(16))
	copy(k.By[:], r.raw(16))
	k.Print, k.Until, k.Kind = r.fixed(), uint32(r.uint()), answerKind(r.uint())
}

func (d *dupRow) write(w *writer) {
	w.raw(d.Key[:])
	w.raw(d.Lead[:])
	w.uint(uint64(d.Until))
}

func (d *dupRow) read(r *reader) {
	copy(d.Key[:], r.raw(16))
	copy(d.Lead[:], r.raw(16))
	d.Until = uint32(r.uint())
}

func (p *OpenPost) write(w *writer) {
	p.writeOpen(w)
	w.uint(p.Slot)
	w.bool(p.Intent.Trusted)
}

// writeOpen writes all of a post except the fields of later versions.
func (p *OpenPost) writeOpen(w *writer) {
	w.raw(p.Lead[:])
	w.string(p.Intent.URL)
	w.string(p.Intent.Credential)
	w.string(p.Intent.Header)
	w.string(p.Intent.Scheme)
	w.int(p.Intent.Timeout)
	w.bool(p.Intent.Repeatable)
	w.string(p.Intent.TokenURL)
	w.string(p.Intent.ClientID)
	w.string(p.Intent.Scope)
	w.raw(p.Intent.Auction[:])
	// writeDialect writes an endpoint's dialect. Most endpoints speak the contract and
	// take one byte.
	writeDialect(w, &p.Intent.Dialect)
	writeSale(w, p)
	w.bytes(p.Body)
	w.uint(uint64(p.Attempts))
	w.int(p.Tried)
	w.int(p.Decided)
	w.bool(p.Answered)
	w.bool(p.Exhausted)
}

func (p *OpenPost) read(r *reader) {
	copy(p.Lead[:], r.raw(16))
	p.Intent.URL, p.Intent.Credential = r.string(), r.string()
	p.Intent.Header, p.Intent.Scheme = r.string(), r.string()
	p.Intent.Timeout, p.Intent.Repeatable = r.int(), r.bool()
	p.Intent.TokenURL, p.Intent.ClientID, p.Intent.Scope = r.string(), r.string(), r.string()
	copy(p.Intent.Auction[:], r.raw(16))
	readDialect(r, &p.Intent.Dialect)
	readSale(r, p)
	p.Body = r.bytes()
	p.Attempts, p.Tried, p.Decided = uint32(r.uint()), r.int(), r.int()
	p.Answered, p.Exhausted = r.bool(), r.bool()
	if r.version >= versionSealed {
		p.Slot = r.uint()
	}
	if r.version >= versionTrusted {
		p.Intent.Trusted = r.bool()
	}
}

func (a *AuctionRow) write(w *writer) {
	w.raw(a.Name[:])
	w.raw(a.Lead[:])
	w.uint(a.Seq)
	w.uint(uint64(a.Keep))
}

func (a *AuctionRow) read(r *reader) {
	copy(a.Name[:], r.raw(16))
	copy(a.Lead[:], r.raw(16))
	a.Seq, a.Keep = r.uint(), uint32(r.uint())
}

func writeSale(w *writer, p *OpenPost) {
	sale := &p.Sale
	w.uint(uint64(sale.Buyer))
	w.uint(uint64(sale.FilterSet))
	w.int(int64(sale.Price))
	w.int(int64(sale.Payout))
	w.raw(sale.Currency[:])
	w.uint(uint64(len(sale.Charges)))
	for _, charge := range sale.Charges {
		w.uint(uint64(charge.Cap))
		w.int(charge.Window)
		w.int(charge.Amount)
	}
	w.fixed(sale.Turn.Set)
	w.uint(uint64(sale.Turn.Phase))
	w.uint(uint64(sale.Turn.Member))
	w.uint(uint64(len(sale.Dups)))
	for i := range sale.Dups {
		w.raw(sale.Dups[i].Key[:])
		w.int(sale.Dups[i].Until)
	}
	w.raw(sale.Ping[:])
	w.bool(sale.Test)
}

func readSale(r *reader, p *OpenPost) {
	sale := &p.Sale
	sale.Buyer, sale.FilterSet = market.Ref(r.uint()), uint32(r.uint())
	sale.Price, sale.Payout = market.Money(r.int()), market.Money(r.int())
	copy(sale.Currency[:], r.raw(3))
	for range r.count() {
		sale.Charges = append(sale.Charges, event.Charge{Cap: market.Ref(r.uint()), Window: r.int(), Amount: r.int()})
	}
	sale.Turn = event.Turn{Set: r.fixed(), Phase: uint32(r.uint()), Member: uint32(r.uint())}
	for range r.count() {
		var dup event.Dup
		copy(dup.Key[:], r.raw(16))
		dup.Until = r.int()
		sale.Dups = append(sale.Dups, dup)
	}
	copy(sale.Ping[:], r.raw(16))
	sale.Test = r.bool()
}

func dialectText(d *market.Dialect) [13]*string {
	return [...]*string{
		&d.Method, &d.ContentType, &d.Headers, &d.KeyHeader,
		&d.Answer.Format, &d.Answer.Accepted, &d.Answer.Yes, &d.Answer.No,
		&d.Answer.Price, &d.Answer.Currency, &d.Answer.Token, &d.Answer.ID, &d.Answer.Reason,
	}
}

// writeDialect writes how an endpoint is spoken to; most speak the contract, and
// take one byte.
func writeDialect(w *writer, d *market.Dialect) {
	own := *d != market.Dialect{}
	w.bool(own)
	if !own {
		return
	}
	for _, text := range dialectText(d) {
		w.string(*text)
	}
	w.bool(d.Idempotent)
}

func readDialect(r *reader, d *market.Dialect) {
	if !r.bool() {
		return
	}
	for _, text := range dialectText(d) {
		*text = r.string()
	}
	d.Idempotent = r.bool()
}

// cloneDialect copies strings that may alias a log frame.
func cloneDialect(d market.Dialect) market.Dialect {
	for _, text := range dialectText(&d) {
		*text = clone(*text)
	}
	return d
}

// minWebhookBytes is a lower bound of a webhook's size in a section.
const minWebhookBytes = 32

func (r *webhookRow) write(w *writer) {
	w.raw(r.Lead[:])
	w.raw([]byte{byte(r.Type), byte(flag(r.Dead))})
	w.uint(r.Cause)
	w.fixed(uint64(r.Created))
	w.fixed(uint64(r.Due))
	w.uint(uint64(r.Attempts))
}

func (r *webhookRow) read(from *reader) {
	copy(r.Lead[:], from.raw(16))
	if small := from.raw(2); len(small) == 2 {
		r.Type, r.Dead = market.WebhookType(small[0]), small[1] != 0
	}
	r.Cause, r.Created, r.Due, r.Attempts = from.uint(), int64(from.fixed()), int64(from.fixed()), uint32(from.uint())
}

// copyTo copies a shard's outboxes while Apply is excluded, and returns a function that
// encodes the copy.
func (shard *outboxShard) copyTo(body *writer, scratch *[]webhookRow) func() {
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

// outboxHead precedes an outbox's rows.
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

// loadShard reads a shard's outboxes. A repeated webhook means damage.
func (o *outboxes) loadShard(shard int, body *reader) {
	for range body.count() {
		var head outboxHead
		head.read(body)
		if int(head.supplier)%shards != shard || o.get(head.supplier) != nil || head.rows*minWebhookBytes > len(body.buf) {
			body.fail()
		}
		if body.err != nil {
			return
		}
		b := o.getOrCreate(head.supplier)
		b.dropped, b.failing, b.off = head.dropped, head.failing, head.off
		b.firstRow = make(map[market.LeadID]uint32, head.rows)
		for range head.rows {
			var row webhookRow
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
