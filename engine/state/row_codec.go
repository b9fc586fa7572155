package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// encode appends all fields of the row to a snapshot's section. decode reads them in the same
// order.
func (l *Lead) encode(w *sectionEncoder) {
	w.writeRaw(l.ID[:])
	w.writeRaw(l.Request[:])
	w.writeInt(int64(l.Price))
	w.writeInt(int64(l.Payout))
	w.writeFixed(uint64(l.Decided))
	w.writeUint(l.Seq)
	w.writeUint(l.Settled)
	w.writeUint(uint64(l.Keep))
	w.writeUint(uint64(l.Campaign))
	w.writeUint(uint64(l.Supplier))
	w.writeUint(uint64(l.Buyer))
	w.writeRaw(l.Currency[:])
	w.writeRaw([]byte{byte(l.Status), byte(l.Delivery), byte(l.Reason), byte(l.Answer), byte(l.LeadFlags)})
}

func (l *Lead) decode(r *sectionDecoder) {
	copy(l.ID[:], r.readRaw(16))
	copy(l.Request[:], r.readRaw(16))
	l.Price, l.Payout = market.Money(r.readInt()), market.Money(r.readInt())
	l.Decided, l.Seq, l.Settled, l.Keep = int64(r.readFixed()), r.readUint(), r.readUint(), uint32(r.readUint())
	l.Campaign, l.Supplier, l.Buyer = market.Ref(r.readUint()), market.Ref(r.readUint()), market.Ref(r.readUint())
	copy(l.Currency[:], r.readRaw(3))
	if small := r.readRaw(5); len(small) == 5 {
		l.Status, l.Delivery = market.LeadStatus(small[0]), market.DeliveryState(small[1])
		l.Reason, l.Answer, l.LeadFlags = market.Reason(small[2]), SupplierAnswer(small[3]), LeadFlags(small[4])
	}
}

func (k *idempotencyRow) encode(w *sectionEncoder) {
	w.writeRaw(k.Key[:])
	w.writeRaw(k.AnsweredBy[:])
	w.writeFixed(k.Fingerprint)
	w.writeUint(uint64(k.Until))
	w.writeUint(uint64(k.Kind))
}

func (k *idempotencyRow) decode(r *sectionDecoder) {
	copy(k.Key[:], r.readRaw(16))
	copy(k.AnsweredBy[:], r.readRaw(16))
	k.Fingerprint, k.Until, k.Kind = r.readFixed(), uint32(r.readUint()), answerReferenceKind(r.readUint())
}

func (d *duplicateRow) encode(w *sectionEncoder) {
	w.writeRaw(d.Key[:])
	w.writeRaw(d.Lead[:])
	w.writeUint(uint64(d.Until))
}

func (d *duplicateRow) decode(r *sectionDecoder) {
	copy(d.Key[:], r.readRaw(16))
	copy(d.Lead[:], r.readRaw(16))
	d.Until = uint32(r.readUint())
}

func (p *OpenPost) encode(w *sectionEncoder) {
	p.encodeFields(w)
	w.writeUint(p.Slot)
	w.writeBool(p.Intent.Trusted)
}

// encodeFields writes the fields of a post that the oldest readable snapshot version has. encode
// and digest add the fields of later versions.
func (p *OpenPost) encodeFields(w *sectionEncoder) {
	w.writeRaw(p.Lead[:])
	w.writeString(p.Intent.URL)
	w.writeString(p.Intent.Credential)
	w.writeString(p.Intent.Header)
	w.writeString(p.Intent.Scheme)
	w.writeInt(p.Intent.Timeout)
	w.writeBool(p.Intent.Repeatable)
	w.writeString(p.Intent.TokenURL)
	w.writeString(p.Intent.ClientID)
	w.writeString(p.Intent.Scope)
	w.writeRaw(p.Intent.Auction[:])
	encodeDialect(w, &p.Intent.Dialect)
	encodeSale(w, p)
	w.writeBytes(p.Body)
	w.writeUint(uint64(p.Attempts))
	w.writeInt(p.LastAttempt)
	w.writeInt(p.Decided)
	w.writeBool(p.Answered)
	w.writeBool(p.Exhausted)
}

// decode reads a post. Fields that the snapshot's version does not have stay zero.
func (p *OpenPost) decode(r *sectionDecoder) {
	copy(p.Lead[:], r.readRaw(16))
	p.Intent.URL, p.Intent.Credential = r.readString(), r.readString()
	p.Intent.Header, p.Intent.Scheme = r.readString(), r.readString()
	p.Intent.Timeout, p.Intent.Repeatable = r.readInt(), r.readBool()
	p.Intent.TokenURL, p.Intent.ClientID, p.Intent.Scope = r.readString(), r.readString(), r.readString()
	copy(p.Intent.Auction[:], r.readRaw(16))
	decodeDialect(r, &p.Intent.Dialect)
	decodeSale(r, p)
	p.Body = r.readBytes()
	p.Attempts, p.LastAttempt, p.Decided = uint32(r.readUint()), r.readInt(), r.readInt()
	p.Answered, p.Exhausted = r.readBool(), r.readBool()
	if r.version >= versionSealed {
		p.Slot = r.readUint()
	}
	if r.version >= versionTrusted {
		p.Intent.Trusted = r.readBool()
	}
}

func (a *AuctionRow) encode(w *sectionEncoder) {
	w.writeRaw(a.Name[:])
	w.writeRaw(a.Lead[:])
	w.writeUint(a.Seq)
	w.writeUint(uint64(a.Keep))
}

func (a *AuctionRow) decode(r *sectionDecoder) {
	copy(a.Name[:], r.readRaw(16))
	copy(a.Lead[:], r.readRaw(16))
	a.Seq, a.Keep = r.readUint(), uint32(r.readUint())
}

// encodeSale writes the sale of an open post: its buyer, amounts, charges, turn and duplicate
// values.
func encodeSale(w *sectionEncoder, p *OpenPost) {
	sale := &p.Sale
	w.writeUint(uint64(sale.Buyer))
	w.writeUint(uint64(sale.FilterSet))
	w.writeInt(int64(sale.Price))
	w.writeInt(int64(sale.Payout))
	w.writeRaw(sale.Currency[:])
	w.writeUint(uint64(len(sale.Charges)))
	for _, charge := range sale.Charges {
		w.writeUint(uint64(charge.Cap))
		w.writeInt(charge.Window)
		w.writeInt(charge.Amount)
	}
	w.writeFixed(sale.Turn.Set)
	w.writeUint(uint64(sale.Turn.Phase))
	w.writeUint(uint64(sale.Turn.Member))
	w.writeUint(uint64(len(sale.Duplicates)))
	for i := range sale.Duplicates {
		w.writeRaw(sale.Duplicates[i].Key[:])
		w.writeInt(sale.Duplicates[i].Until)
	}
	w.writeRaw(sale.Ping[:])
	w.writeBool(sale.Test)
}

// decodeSale reads the sale of an open post as encodeSale wrote it.
func decodeSale(r *sectionDecoder, p *OpenPost) {
	sale := &p.Sale
	sale.Buyer, sale.FilterSet = market.Ref(r.readUint()), uint32(r.readUint())
	sale.Price, sale.Payout = market.Money(r.readInt()), market.Money(r.readInt())
	copy(sale.Currency[:], r.readRaw(3))
	for range r.readCount() {
		sale.Charges = append(sale.Charges, event.CapCharge{Cap: market.Ref(r.readUint()), Window: r.readInt(), Amount: r.readInt()})
	}
	sale.Turn = event.RotationTurn{Set: r.readFixed(), Phase: uint32(r.readUint()), Member: uint32(r.readUint())}
	for range r.readCount() {
		var dup event.DuplicateValue
		copy(dup.Key[:], r.readRaw(16))
		dup.Until = r.readInt()
		sale.Duplicates = append(sale.Duplicates, dup)
	}
	copy(sale.Ping[:], r.readRaw(16))
	sale.Test = r.readBool()
}

// encodeDialect writes an endpoint's dialect: the formats in which its buyer differs from the
// exchange's own contract. An endpoint without a dialect takes one byte.
func encodeDialect(w *sectionEncoder, d *market.Dialect) {
	own := *d != market.Dialect{}
	w.writeBool(own)
	if !own {
		return
	}
	for _, text := range d.Texts() {
		w.writeString(*text)
	}
	w.writeBool(d.Idempotent)
}

// decodeDialect reads a dialect as encodeDialect wrote it.
func decodeDialect(r *sectionDecoder, d *market.Dialect) {
	if !r.readBool() {
		return
	}
	for _, text := range d.Texts() {
		*text = r.readString()
	}
	d.Idempotent = r.readBool()
}

// copyDialect returns d with copies of its strings, which may share memory with a log record.
func copyDialect(d market.Dialect) market.Dialect {
	for _, text := range d.Texts() {
		*text = copyString(*text)
	}
	return d
}

// minWebhookBytes is a lower bound of the size of an encoded webhook. loadShard checks row counts
// against it, so that a damaged count cannot allocate memory.
const minWebhookBytes = 32

func (r *webhookRow) encode(w *sectionEncoder) {
	w.writeRaw(r.Lead[:])
	w.writeRaw([]byte{byte(r.Type), byte(boolAsUint(r.Dead))})
	w.writeUint(r.Cause)
	w.writeFixed(uint64(r.Created))
	w.writeFixed(uint64(r.Due))
	w.writeUint(uint64(r.Attempts))
}

func (r *webhookRow) decode(from *sectionDecoder) {
	copy(r.Lead[:], from.readRaw(16))
	if small := from.readRaw(2); len(small) == 2 {
		r.Type, r.Dead = market.WebhookType(small[0]), small[1] != 0
	}
	r.Cause, r.Created, r.Due, r.Attempts = from.readUint(), int64(from.readFixed()), int64(from.readFixed()), uint32(from.readUint())
}

// copyForEncoding copies a shard's outboxes into scratch while Apply is blocked. The result
// encodes the copy; nil means that the shard is empty and already encoded.
func (shard *outboxShard) copyForEncoding(body *sectionEncoder, scratch *[]webhookRow) (encode func()) {
	if len(shard.boxes) == 0 {
		body.writeUint(0)
		return nil
	}
	heads := make([]outboxHead, 0, len(shard.boxes))
	*scratch = (*scratch)[:0]
	for _, b := range shard.boxes {
		b.mu.Lock()
		heads = append(heads, outboxHead{b.supplier, b.dropped, b.failingSince, b.off, b.rows.n})
		*scratch = b.rows.appendRowsTo(*scratch)
		b.mu.Unlock()
	}
	return func() {
		rows := *scratch
		body.writeUint(uint64(len(heads)))
		for _, head := range heads {
			head.encode(body)
			for i := range rows[:head.rows] {
				rows[i].encode(body)
			}
			rows = rows[head.rows:]
		}
	}
}

// outboxHead holds the fields of an outbox that a snapshot writes before the outbox's rows.
type outboxHead struct {
	supplier     market.Ref
	dropped      uint64
	failingSince int64
	off          bool
	rows         int
}

func (h *outboxHead) encode(w *sectionEncoder) {
	w.writeUint(uint64(h.supplier))
	w.writeUint(h.dropped)
	w.writeInt(h.failingSince)
	w.writeBool(h.off)
	w.writeUint(uint64(h.rows))
}

func (h *outboxHead) decode(r *sectionDecoder) {
	h.supplier, h.dropped, h.failingSince, h.off = market.Ref(r.readUint()), r.readUint(), r.readInt(), r.readBool()
	h.rows = r.readCount()
}

// loadShard decodes a shard's outboxes from a snapshot. A webhook that appears twice marks the
// section as damaged.
func (o *webhookOutboxes) loadShard(shard int, body *sectionDecoder) {
	for range body.readCount() {
		var head outboxHead
		head.decode(body)
		if int(head.supplier)%shardCount != shard || o.get(head.supplier) != nil || head.rows*minWebhookBytes > len(body.buf) {
			body.fail()
		}
		if body.err != nil {
			return
		}
		b := o.getOrCreate(head.supplier)
		b.dropped, b.failingSince, b.off = head.dropped, head.failingSince, head.off
		b.firstRow = make(map[market.LeadID]uint32, head.rows)
		for range head.rows {
			var row webhookRow
			row.decode(body)
			if b.addRowIfMissing(row); body.err != nil {
				return
			}
		}
		if b.rows.n != head.rows {
			body.fail()
			return
		}
	}
}
