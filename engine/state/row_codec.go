package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// snapshotFields encodes or decodes all fields of the row.
func (l *Lead) snapshotFields(c *sectionCodec) {
	arrayField(c, l.ID[:])
	arrayField(c, l.Request[:])
	intField(c, &l.Price)
	intField(c, &l.Payout)
	fixedField(c, &l.Decided)
	uintField(c, &l.Seq)
	uintField(c, &l.Settled)
	uintField(c, &l.Keep)
	uintField(c, &l.Campaign)
	uintField(c, &l.Supplier)
	uintField(c, &l.Buyer)
	arrayField(c, l.Currency[:])
	byteField(c, &l.Status)
	byteField(c, &l.Delivery)
	byteField(c, &l.Reason)
	byteField(c, &l.Answer)
	byteField(c, &l.LeadFlags)
}

func (k *idempotencyRow) snapshotFields(c *sectionCodec) {
	arrayField(c, k.Key[:])
	arrayField(c, k.AnsweredBy[:])
	fixedField(c, &k.Fingerprint)
	uintField(c, &k.Until)
	uintField(c, &k.Kind)
}

func (d *duplicateRow) snapshotFields(c *sectionCodec) {
	arrayField(c, d.Key[:])
	arrayField(c, d.Lead[:])
	uintField(c, &d.Until)
}

func (a *AuctionRow) snapshotFields(c *sectionCodec) {
	arrayField(c, a.Name[:])
	arrayField(c, a.Lead[:])
	uintField(c, &a.Seq)
	uintField(c, &a.Keep)
}

func (p *OpenPost) snapshotFields(c *sectionCodec) {
	p.oldestSnapshotFields(c)
	if c.hasFieldsSince(versionSealed) {
		uintField(c, &p.Slot)
	}
	if c.hasFieldsSince(versionTrusted) {
		boolField(c, &p.Intent.Trusted)
	}
}

// oldestSnapshotFields encodes or decodes the fields of a post that the oldest readable snapshot
// version has. snapshotFields and digest add the fields of later versions.
func (p *OpenPost) oldestSnapshotFields(c *sectionCodec) {
	arrayField(c, p.Lead[:])
	stringField(c, &p.Intent.URL)
	stringField(c, &p.Intent.Credential)
	stringField(c, &p.Intent.Header)
	stringField(c, &p.Intent.Scheme)
	intField(c, &p.Intent.Timeout)
	boolField(c, &p.Intent.Repeatable)
	stringField(c, &p.Intent.TokenURL)
	stringField(c, &p.Intent.ClientID)
	stringField(c, &p.Intent.Scope)
	arrayField(c, p.Intent.Auction[:])
	dialectFields(c, &p.Intent.Dialect)
	saleFields(c, &p.Sale)
	bytesField(c, &p.Body)
	uintField(c, &p.Attempts)
	intField(c, &p.LastAttempt)
	intField(c, &p.Decided)
	boolField(c, &p.Answered)
	boolField(c, &p.Exhausted)
}

// saleFields encodes or decodes the sale of an open post: its buyer, amounts, charges, turn and
// duplicate values.
func saleFields(c *sectionCodec, sale *event.Sale) {
	uintField(c, &sale.Buyer)
	uintField(c, &sale.FilterSet)
	intField(c, &sale.Price)
	intField(c, &sale.Payout)
	arrayField(c, sale.Currency[:])
	listField(c, &sale.Charges, func(charge *event.CapCharge) {
		uintField(c, &charge.Cap)
		intField(c, &charge.Window)
		intField(c, &charge.Amount)
	})
	fixedField(c, &sale.Turn.Set)
	uintField(c, &sale.Turn.Phase)
	uintField(c, &sale.Turn.Member)
	listField(c, &sale.Duplicates, func(dup *event.DuplicateValue) {
		arrayField(c, dup.Key[:])
		intField(c, &dup.Until)
	})
	arrayField(c, sale.Ping[:])
	boolField(c, &sale.Test)
}

// dialectFields encodes or decodes an endpoint's dialect: the formats in which its buyer differs
// from the exchange's own contract. An endpoint without a dialect takes one byte.
func dialectFields(c *sectionCodec, d *market.Dialect) {
	own := *d != market.Dialect{}
	if boolField(c, &own); !own {
		return
	}
	for _, text := range d.Texts() {
		stringField(c, text)
	}
	boolField(c, &d.Idempotent)
}

// copyDialect returns d with copies of its strings, which may share memory with a log record.
func copyDialect(d market.Dialect) market.Dialect {
	for _, text := range d.Texts() {
		*text = copyString(*text)
	}
	return d
}

func (r *webhookRow) snapshotFields(c *sectionCodec) {
	arrayField(c, r.Lead[:])
	byteField(c, &r.Type)
	boolField(c, &r.Dead)
	uintField(c, &r.Cause)
	fixedField(c, &r.Created)
	fixedField(c, &r.Due)
	uintField(c, &r.Attempts)
}

// copyForEncoding copies a shard's outboxes into scratch while Apply is blocked. The result
// encodes the copy; nil means that the shard is empty and already encoded.
func (shard *outboxShard) copyForEncoding(body *sectionCodec, scratch *[]webhookRow) (encode func()) {
	if len(shard.boxes) == 0 {
		body.countField(0)
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
		body.countField(len(heads))
		for _, head := range heads {
			head.snapshotFields(body)
			for i := range rows[:head.rows] {
				rows[i].snapshotFields(body)
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

func (h *outboxHead) snapshotFields(c *sectionCodec) {
	uintField(c, &h.supplier)
	uintField(c, &h.dropped)
	intField(c, &h.failingSince)
	boolField(c, &h.off)
	h.rows = c.countField(h.rows)
}

// loadShard decodes a shard's outboxes from a snapshot. A webhook that appears twice marks the
// section as damaged.
func (o *webhookOutboxes) loadShard(shard int, body *sectionCodec) {
	for range body.countField(0) {
		var head outboxHead
		head.snapshotFields(body)
		if int(head.supplier)%shardCount != shard || o.get(head.supplier) != nil || head.rows*minRowBytes > len(body.buf) {
			body.markDamaged()
		}
		if body.err != nil {
			return
		}
		b := o.getOrCreate(head.supplier)
		b.dropped, b.failingSince, b.off = head.dropped, head.failingSince, head.off
		b.firstRow = make(map[market.LeadID]uint32, head.rows)
		for range head.rows {
			var row webhookRow
			row.snapshotFields(body)
			if b.addRowIfMissing(row); body.err != nil {
				return
			}
		}
		if b.rows.n != head.rows {
			body.markDamaged()
			return
		}
	}
}
