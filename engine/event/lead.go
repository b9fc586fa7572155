package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// LeadDecided is a lead with its decision: sold without a post (Sale alone), sold to a buyer
// to whom it is now posted (Sale and Post), or unsold (Reason).
type LeadDecided struct {
	Lead     market.LeadID
	Request  market.RequestID // of the call with the lead; a replay repeats it
	Campaign market.Ref
	Supplier market.Ref
	Catalog  uint32 // version of the configuration that numbers the filter sets
	Decided  int64  // Unix nanoseconds; caps are charged in the windows of this instant

	Idempotency IdempotencyUse
	Reason      market.Reason
	Trail       []OutcomeFilterSets
	Sale        Sale
	Post        PostIntent
	Keep        int64 // end of the lead's retention in memory, at the earliest when its delivery has ended; Unix nanoseconds

	Fields []Field // by their known names or as they arrived, without personal ones
	Sealed []byte  // Contact, under the key of Slot

	DuplicateOf market.LeadID   // of a duplicate: the accepted lead with the same value
	Auction     EmbeddedAuction // of the sale or failed sale; zero: no auction

	SellerAuction string             // the seller's own id of the auction that its post names; empty: none
	Webhook       market.WebhookType // that this decision causes, or WebhookNone
	Slot          uint64             // of the key that seals the lead; zero: plaintext (before encryption)
}

// IdempotencyUse is the key that finds the answer again. The zero Key is none.
type IdempotencyUse struct {
	Key         [16]byte // hash of owner, endpoint and key
	Fingerprint uint64   // hash of the body
	ExpiresAt   int64    // Unix nanoseconds
}

// Field is one value of a lead, under its arriving name.
type Field struct {
	Name string
	Kind market.ValueKind
	Text []byte
}

func (*LeadDecided) Kind() Kind { return KindLeadDecided }
func (l *LeadDecided) reset()   { l.ResetKeepingCapacity() }

// ResetKeepingCapacity empties l and keeps its capacity.
func (l *LeadDecided) ResetKeepingCapacity() {
	charges, dups, bids := l.Sale.Charges[:0], l.Sale.Duplicates[:0], l.Auction.Bids[:0]
	trail, fields, sealed := l.Trail[:0], l.Fields[:0], l.Sealed[:0]
	*l = LeadDecided{} // assigned in place: a literal with fields is built elsewhere and copied
	l.Sale.Charges, l.Sale.Duplicates, l.Auction.Bids = charges, dups, bids
	l.Trail, l.Fields, l.Sealed = trail, fields, sealed
}

func (l *LeadDecided) marshal(mm openMessage) {
	putID(mm, 1, l.Lead)
	putID(mm, 2, l.Request)
	putUint(mm, 3, uint64(l.Campaign))
	putUint(mm, 4, uint64(l.Supplier))
	putUint(mm, 5, uint64(l.Catalog))
	putFixed(mm, 6, uint64(l.Decided))
	putID(mm, 7, l.Idempotency.Key)
	putFixed(mm, 8, l.Idempotency.Fingerprint)
	putFixed(mm, 9, uint64(l.Idempotency.ExpiresAt))
	putUint(mm, 10, uint64(l.Reason))
	putTrail(mm, 11, l.Trail)
	if l.Sale.Buyer != 0 || l.Sale.Test {
		l.Sale.marshal(mm.AppendMessage(12))
	}
	if l.Post.URL != "" {
		l.Post.marshal(mm.AppendMessage(13))
	}
	putFixed(mm, 14, uint64(l.Keep))
	for i := range l.Fields {
		l.Fields[i].marshal(mm.AppendMessage(15))
	}
	putBytes(mm, 16, l.Sealed)
	putID(mm, 17, l.DuplicateOf)
	if !l.Auction.ID.IsZero() {
		l.Auction.marshal(mm.AppendMessage(18))
	}
	putString(mm, 19, l.SellerAuction)
	putUint(mm, 20, uint64(l.Webhook))
	putUint(mm, 21, l.Slot)
}

// decodeFieldForReplay reads a field, and skips those that Apply does not use: the trail, the
// lead's fields, its auction and the seller's auction id.
func (l *LeadDecided) decodeFieldForReplay(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 11, 15, 18, 19:
		return true
	}
	return l.decodeField(fc)
}

func (l *LeadDecided) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&l.Lead))
	case 2:
		return getID(fc, (*[16]byte)(&l.Request))
	case 3:
		return getRef(fc, &l.Campaign)
	case 4:
		return getRef(fc, &l.Supplier)
	case 5:
		return getUint32(fc, &l.Catalog)
	case 6:
		return getFixed(fc, &l.Decided)
	case 7:
		return getID(fc, &l.Idempotency.Key)
	case 8:
		fingerprint, ok := fc.Fixed64()
		l.Idempotency.Fingerprint = fingerprint
		return ok
	case 9:
		return getFixed(fc, &l.Idempotency.ExpiresAt)
	case 10:
		return getByte(fc, &l.Reason)
	case 11:
		return getTrailStep(fc, &l.Trail)
	case 12:
		return getMessage(fc, l.Sale.decodeField)
	case 13:
		return getMessage(fc, l.Post.decodeField)
	case 14:
		return getFixed(fc, &l.Keep)
	case 15:
		return getField(fc, &l.Fields)
	case 16:
		return getBytes(fc, &l.Sealed)
	case 17:
		return getID(fc, (*[16]byte)(&l.DuplicateOf))
	case 18:
		return getMessage(fc, l.Auction.decodeField)
	case 19:
		return getString(fc, &l.SellerAuction)
	case 20:
		return getByte(fc, &l.Webhook)
	case 21:
		return getUint(fc, &l.Slot)
	}
	return true
}

func (f *Field) marshal(mm openMessage) {
	putString(mm, 1, f.Name)
	putUint(mm, 2, uint64(f.Kind))
	putBytes(mm, 3, f.Text)
}

func getField(fc *easyproto.FieldContext, fields *[]Field) bool {
	var f *Field
	*fields, f = appendZero(*fields)
	*f = Field{}
	return getMessage(fc, func(fc *easyproto.FieldContext) bool {
		switch fc.FieldNum {
		case 1:
			return getString(fc, &f.Name)
		case 2:
			return getByte(fc, &f.Kind)
		case 3:
			return getBytes(fc, &f.Text)
		}
		return true
	})
}
