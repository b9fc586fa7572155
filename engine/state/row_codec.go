package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// encodeOrDecodeSnapshot encodes or decodes all fields of the row.
func (l *Lead) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	encodeOrDecodeFixedBytes(c, l.ID[:])
	encodeOrDecodeFixedBytes(c, l.Request[:])
	encodeOrDecodeZigzag(c, &l.Price)
	encodeOrDecodeZigzag(c, &l.Payout)
	encodeOrDecodeFixed64(c, &l.Decided)
	encodeOrDecodeUvarint(c, &l.Seq)
	encodeOrDecodeUvarint(c, &l.Settled)
	encodeOrDecodeUvarint(c, &l.Keep)
	encodeOrDecodeUvarint(c, &l.Campaign)
	encodeOrDecodeUvarint(c, &l.Supplier)
	encodeOrDecodeUvarint(c, &l.Buyer)
	encodeOrDecodeFixedBytes(c, l.Currency[:])
	encodeOrDecodeByte(c, &l.Status)
	encodeOrDecodeByte(c, &l.Delivery)
	encodeOrDecodeByte(c, &l.Reason)
	encodeOrDecodeByte(c, &l.Answer)
	encodeOrDecodeByte(c, &l.LeadFlags)
}

func (k *idempotencyRow) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	encodeOrDecodeFixedBytes(c, k.Key[:])
	encodeOrDecodeFixedBytes(c, k.AnsweredBy[:])
	encodeOrDecodeFixed64(c, &k.Fingerprint)
	encodeOrDecodeUvarint(c, &k.Until)
	encodeOrDecodeUvarint(c, &k.Kind)
}

func (d *duplicateCheckRow) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	encodeOrDecodeFixedBytes(c, d.Key[:])
	encodeOrDecodeFixedBytes(c, d.Lead[:])
	encodeOrDecodeUvarint(c, &d.Until)
}

func (a *AuctionRow) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	encodeOrDecodeFixedBytes(c, a.Name[:])
	encodeOrDecodeFixedBytes(c, a.Lead[:])
	encodeOrDecodeUvarint(c, &a.Seq)
	encodeOrDecodeUvarint(c, &a.Keep)
}

func (p *UnfinishedPost) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	p.encodeOrDecodeOldestVersionFields(c)
	if c.hasFieldsSinceVersion(versionSealed) {
		encodeOrDecodeUvarint(c, &p.Slot)
	}
	if c.hasFieldsSinceVersion(versionTrusted) {
		encodeOrDecodeBool(c, &p.Intent.Trusted)
	}
}

// encodeOrDecodeOldestVersionFields encodes or decodes the fields of a post that the oldest readable
// snapshot version has. encodeOrDecodeSnapshot and contentHash add the fields of later versions.
func (p *UnfinishedPost) encodeOrDecodeOldestVersionFields(c *snapshotSectionCodec) {
	encodeOrDecodeFixedBytes(c, p.Lead[:])
	encodeOrDecodeString(c, &p.Intent.URL)
	encodeOrDecodeString(c, &p.Intent.Credential)
	encodeOrDecodeString(c, &p.Intent.Header)
	encodeOrDecodeString(c, &p.Intent.Scheme)
	encodeOrDecodeZigzag(c, &p.Intent.Timeout)
	encodeOrDecodeBool(c, &p.Intent.Repeatable)
	encodeOrDecodeString(c, &p.Intent.TokenURL)
	encodeOrDecodeString(c, &p.Intent.ClientID)
	encodeOrDecodeString(c, &p.Intent.Scope)
	encodeOrDecodeFixedBytes(c, p.Intent.Auction[:])
	encodeOrDecodeAdapterProtocol(c, &p.Intent.AdapterProtocol)
	encodeOrDecodeSale(c, &p.Sale)
	encodeOrDecodeBytes(c, &p.Body)
	encodeOrDecodeUvarint(c, &p.Attempts)
	encodeOrDecodeZigzag(c, &p.LastAttempt)
	encodeOrDecodeZigzag(c, &p.Decided)
	encodeOrDecodeBool(c, &p.Answered)
	encodeOrDecodeBool(c, &p.Exhausted)
}

// encodeOrDecodeSale encodes or decodes the sale of an open post: its buyer, amounts, charges, turn and
// duplicate values.
func encodeOrDecodeSale(c *snapshotSectionCodec, sale *event.Sale) {
	encodeOrDecodeUvarint(c, &sale.Buyer)
	encodeOrDecodeUvarint(c, &sale.FilterSet)
	encodeOrDecodeZigzag(c, &sale.Price)
	encodeOrDecodeZigzag(c, &sale.Payout)
	encodeOrDecodeFixedBytes(c, sale.Currency[:])
	encodeOrDecodeList(c, &sale.Charges, func(charge *event.CapCharge) {
		encodeOrDecodeUvarint(c, &charge.Cap)
		encodeOrDecodeZigzag(c, &charge.Window)
		encodeOrDecodeZigzag(c, &charge.Amount)
	})
	encodeOrDecodeFixed64(c, &sale.Turn.Set)
	encodeOrDecodeUvarint(c, &sale.Turn.Phase)
	encodeOrDecodeUvarint(c, &sale.Turn.Member)
	encodeOrDecodeList(c, &sale.Duplicates, func(dup *event.DuplicateCheckValue) {
		encodeOrDecodeFixedBytes(c, dup.Key[:])
		encodeOrDecodeZigzag(c, &dup.Until)
	})
	encodeOrDecodeFixedBytes(c, sale.Ping[:])
	encodeOrDecodeBool(c, &sale.Test)
}

// encodeOrDecodeAdapterProtocol encodes or decodes an endpoint's adapter protocol, which describes the
// requests and answers of a buyer that does not implement the exchange's contract. An endpoint without
// an adapter protocol takes one byte.
func encodeOrDecodeAdapterProtocol(c *snapshotSectionCodec, d *market.AdapterProtocol) {
	own := *d != market.AdapterProtocol{}
	if encodeOrDecodeBool(c, &own); !own {
		return
	}
	for _, text := range d.TextPointersInEncodingOrder() {
		encodeOrDecodeString(c, text)
	}
	encodeOrDecodeBool(c, &d.Idempotent)
}

// cloneAdapterProtocolStrings returns d with copies of its strings, which may share memory with a log record.
func cloneAdapterProtocolStrings(d market.AdapterProtocol) market.AdapterProtocol {
	for _, text := range d.TextPointersInEncodingOrder() {
		*text = copyString(*text)
	}
	return d
}

func (r *webhookRow) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	encodeOrDecodeFixedBytes(c, r.Lead[:])
	encodeOrDecodeByte(c, &r.Type)
	encodeOrDecodeBool(c, &r.Dead)
	encodeOrDecodeUvarint(c, &r.Cause)
	encodeOrDecodeFixed64(c, &r.Created)
	encodeOrDecodeFixed64(c, &r.Due)
	encodeOrDecodeUvarint(c, &r.Attempts)
}

// copyWhileApplyIsBlocked copies a shard's outboxes into scratch while Apply is blocked. The result
// encodes the copy; nil means that the shard is empty and already encoded.
func (shard *outboxShard) copyWhileApplyIsBlocked(body *snapshotSectionCodec, scratch *[]webhookRow) (encodeOrNilIfEmpty func()) {
	if len(shard.boxes) == 0 {
		body.encodeOrDecodeCount(0)
		return nil
	}
	heads := make([]supplierOutboxSnapshotHeader, 0, len(shard.boxes))
	*scratch = (*scratch)[:0]
	for _, b := range shard.boxes {
		b.mu.Lock()
		heads = append(heads, supplierOutboxSnapshotHeader{b.supplier, b.dropped, b.failingSince, b.off, b.rows.n})
		*scratch = b.rows.appendRowsTo(*scratch)
		b.mu.Unlock()
	}
	return func() {
		rows := *scratch
		body.encodeOrDecodeCount(len(heads))
		for _, head := range heads {
			head.encodeOrDecodeSnapshot(body)
			for i := range rows[:head.rows] {
				rows[i].encodeOrDecodeSnapshot(body)
			}
			rows = rows[head.rows:]
		}
	}
}

// supplierOutboxSnapshotHeader holds the fields of an outbox that a snapshot writes before the outbox's rows.
type supplierOutboxSnapshotHeader struct {
	supplier     market.PermanentNumber
	dropped      uint64
	failingSince int64
	off          bool
	rows         int
}

func (h *supplierOutboxSnapshotHeader) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	encodeOrDecodeUvarint(c, &h.supplier)
	encodeOrDecodeUvarint(c, &h.dropped)
	encodeOrDecodeZigzag(c, &h.failingSince)
	encodeOrDecodeBool(c, &h.off)
	h.rows = c.encodeOrDecodeCount(h.rows)
}

// loadOutboxShard decodes a shard's outboxes from a snapshot. A supplier of another shard, a repeated
// supplier or webhook, or an impossible row count marks the section as damaged.
func (o *webhookOutboxes) loadOutboxShard(shardNumber int, body *snapshotSectionCodec) {
	for range body.encodeOrDecodeCount(0) {
		var head supplierOutboxSnapshotHeader
		head.encodeOrDecodeSnapshot(body)
		if int(head.supplier)%shardCount != shardNumber || o.get(head.supplier) != nil || head.rows*minRowBytes > len(body.buf) {
			body.markDamaged()
		}
		if body.err != nil {
			return
		}
		b := o.getOrCreateOutbox(head.supplier)
		b.dropped, b.failingSince, b.off = head.dropped, head.failingSince, head.off
		b.firstRow = make(map[market.LeadID]uint32, head.rows)
		for range head.rows {
			var row webhookRow
			row.encodeOrDecodeSnapshot(body)
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
