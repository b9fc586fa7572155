package state

import (
	"encoding/binary"
	"math"

	"pingpost/engine/market"
)

// SupplierAnswer is the answer that the supplier received. It never changes, whatever the lead's
// later status is.
type SupplierAnswer uint8

const (
	AnswerNone      SupplierAnswer = 0 // no answer yet: the lead is open
	AnswerAccepted  SupplierAnswer = 1
	AnswerUnmatched SupplierAnswer = 2
)

// Lead is a lead in memory. The log holds its other fields, at Seq.
type Lead struct {
	ID       market.LeadID
	Request  market.RequestID
	Price    market.Money
	Payout   market.Money
	Decided  int64  // Unix nanoseconds
	Seq      uint64 // of the LeadDecided event
	Settled  uint64 // sequence of the event that ended its last post; zero: none ended
	Keep     uint32 // Unix seconds
	Campaign market.Ref
	Supplier market.Ref
	Buyer    market.Ref
	Currency market.Currency
	Status   market.LeadStatus
	Delivery market.DeliveryState
	Reason   market.Reason
	Answer   SupplierAnswer
	LeadFlags
}

// LeadFlags packs the remaining flags of a lead into the last byte of its row: the state
// of its return in the lowest two bits, and whether it is a test lead in the next one.
type LeadFlags uint8

const (
	marksReturn LeadFlags = 3
	markTest    LeadFlags = 4
)

// ReturnState returns the state of the lead's return.
func (m LeadFlags) ReturnState() market.ReturnState { return market.ReturnState(m & marksReturn) }

// IsTest reports whether the lead is a test: it uses no cap, money, turn, month or
// duplicate value.
func (m LeadFlags) IsTest() bool { return m&markTest != 0 }

func (m *LeadFlags) setReturnState(state market.ReturnState) { *m = *m&^marksReturn | LeadFlags(state) }

func (l *Lead) key() *[16]byte { return (*[16]byte)(&l.ID) }

// expiryUnixSeconds returns when the lead leaves memory. A pending or unknown delivery never
// expires: the event that settles it, however late, still decides the lead's buyer and
// payout.
func (l *Lead) expiryUnixSeconds() uint32 {
	if l.Delivery == market.DeliveryPending || l.Delivery == market.DeliveryUnknown {
		return math.MaxUint32
	}
	return l.Keep
}

func (l *Lead) digest() uint64 {
	small := uint64(l.Currency[0]) | uint64(l.Currency[1])<<8 | uint64(l.Currency[2])<<16 |
		uint64(l.Status)<<24 | uint64(l.Delivery)<<32 | uint64(l.Reason)<<40 | uint64(l.Answer)<<48 | uint64(l.LeadFlags)<<56
	return newDigest(1).addID16((*[16]byte)(&l.ID)).addID16((*[16]byte)(&l.Request)).
		addWord(uint64(l.Price)).addWord(uint64(l.Payout)).addWord(uint64(l.Decided)).addWord(l.Seq).addWord(l.Settled).
		addWord(uint64(l.Keep) | uint64(l.Campaign)<<32).addWord(uint64(l.Supplier) | uint64(l.Buyer)<<32).
		addWord(small).sum()
}

// idempotencyRow identifies the answer of an idempotency key.
type idempotencyRow struct {
	Key         [16]byte
	AnsweredBy  answerReference
	Fingerprint uint64
	Until       uint32
	Kind        answerReferenceKind
}

// answerReference is a lead's identifier, or the sequence of the event with the answer. An
// unnamed auction and a report of many leads have no identifier. One field for both keeps
// the row small.
type answerReference [16]byte

type answerReferenceKind uint8

const (
	byLead     answerReferenceKind = 1
	bySequence answerReferenceKind = 2
)

func (k *idempotencyRow) key() *[16]byte            { return &k.Key }
func (k *idempotencyRow) expiryUnixSeconds() uint32 { return k.Until }
func (k *idempotencyRow) digest() uint64 {
	return newDigest(2).addID16(&k.Key).addID16((*[16]byte)(&k.AnsweredBy)).addWord(k.Fingerprint).addWord(uint64(k.Until) | uint64(k.Kind)<<32).sum()
}

// duplicateRow remembers a value of an accepted lead.
type duplicateRow struct {
	Key   market.DuplicateKey
	Lead  market.LeadID
	Until uint32
}

func (d *duplicateRow) key() *[16]byte            { return (*[16]byte)(&d.Key) }
func (d *duplicateRow) expiryUnixSeconds() uint32 { return d.Until }
func (d *duplicateRow) digest() uint64 {
	return newDigest(3).addID16((*[16]byte)(&d.Key)).addID16((*[16]byte)(&d.Lead)).addWord(uint64(d.Until)).sum()
}

func (d digest) addID16(id *[16]byte) digest {
	return d.addWord(binary.LittleEndian.Uint64(id[:8])).addWord(binary.LittleEndian.Uint64(id[8:]))
}

// unixSecondsRoundedUp rounds a time in Unix nanoseconds up to whole seconds. Times from 2106 on, which
// 32 bits cannot hold, become the greatest value.
func unixSecondsRoundedUp(unixNanos int64) uint32 {
	whole := unixNanos / 1_000_000_000
	if unixNanos%1_000_000_000 > 0 {
		whole++
	}
	return uint32(min(max(whole, 0), math.MaxUint32))
}
