package state

import "pingpost/engine/market"

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
	w.raw([]byte{byte(l.Status), byte(l.Delivery), byte(l.Reason), byte(l.Answer), byte(l.Marks)})
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
		l.Reason, l.Answer, l.Marks = market.Reason(small[2]), Answer(small[3]), Marks(small[4])
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

func (p *Post) write(w *writer) {
	p.writeOpen(w)
	w.uint(p.Slot)
}

// writeOpen is all of a post but the slot, which those of an earlier time have not.
func (p *Post) writeOpen(w *writer) {
	w.raw(p.Lead[:])
	w.string(p.Intent.URL)
	w.string(p.Intent.Credential)
	w.string(p.Intent.Header)
	w.string(p.Intent.Scheme)
	w.int(p.Intent.Timeout)
	w.bool(p.Intent.Idempotent)
	w.string(p.Intent.TokenURL)
	w.string(p.Intent.ClientID)
	w.string(p.Intent.Scope)
	w.raw(p.Intent.Auction[:])
	writeDialect(w, &p.Intent.Dialect)
	writeSale(w, p)
	w.bytes(p.Body)
	w.uint(uint64(p.Attempts))
	w.int(p.Tried)
	w.int(p.Decided)
	w.bool(p.Answered)
	w.bool(p.Unknown)
}

func (p *Post) read(r *reader) {
	copy(p.Lead[:], r.raw(16))
	p.Intent.URL, p.Intent.Credential = r.string(), r.string()
	p.Intent.Header, p.Intent.Scheme = r.string(), r.string()
	p.Intent.Timeout, p.Intent.Idempotent = r.int(), r.bool()
	p.Intent.TokenURL, p.Intent.ClientID, p.Intent.Scope = r.string(), r.string(), r.string()
	copy(p.Intent.Auction[:], r.raw(16))
	readDialect(r, &p.Intent.Dialect)
	readSale(r, p)
	p.Body = r.bytes()
	p.Attempts, p.Tried, p.Decided = uint32(r.uint()), r.int(), r.int()
	p.Answered, p.Unknown = r.bool(), r.bool()
	if r.version >= versionSealed {
		p.Slot = r.uint()
	}
}
