package state

import (
	"encoding/binary"
	"math"

	"pingpost/engine/market"
)

// Answer is what the supplier was told; it never changes, whatever becomes of
// the lead later.
type Answer uint8

const (
	AnswerNone      Answer = 0 // nothing yet: the lead is open
	AnswerAccepted  Answer = 1
	AnswerUnmatched Answer = 2
)

// Lead is what memory keeps of a lead. Its fields are in the log, at Seq.
type Lead struct {
	ID       market.LeadID
	Request  market.RequestID
	Price    market.Money
	Payout   market.Money
	Decided  int64  // Unix nanoseconds
	Seq      uint64 // of the frame that brought it
	Settled  uint64 // of the frame in which its last post came to an end; zero: none has
	Keep     uint32 // Unix seconds
	Campaign market.Ref
	Supplier market.Ref
	Buyer    market.Ref
	Currency market.Currency
	Status   market.Status
	Delivery market.Delivery
	Reason   market.Reason
	Answer   Answer
	Marks
}

// Marks are what little else is known of a lead, in the one byte that its row has
// left: in the lowest two bits where its return stands, in the next one whether it
// is a test.
type Marks uint8

const (
	marksReturn Marks = 3
	markTest    Marks = 4
)

// Return is where the lead's return stands.
func (m Marks) Return() market.ReturnState { return market.ReturnState(m & marksReturn) }

// Test tells whether the lead is a test: it touches no cap, money, turn, month or
// duplicate.
func (m Marks) Test() bool { return m&markTest != 0 }

func (m *Marks) setReturn(state market.ReturnState) { *m = *m&^marksReturn | Marks(state) }

func (l *Lead) key() *[16]byte { return (*[16]byte)(&l.ID) }

// expires is never while the lead is on its way, or nobody knows whether it has
// arrived: whose it is, and what it earns, is for the fact that settles it to say,
// however late that comes.
func (l *Lead) expires() uint32 {
	if l.Delivery == market.DeliveryPending || l.Delivery == market.DeliveryUnknown {
		return math.MaxUint32
	}
	return l.Keep
}

func (l *Lead) digest() uint64 {
	small := uint64(l.Currency[0]) | uint64(l.Currency[1])<<8 | uint64(l.Currency[2])<<16 |
		uint64(l.Status)<<24 | uint64(l.Delivery)<<32 | uint64(l.Reason)<<40 | uint64(l.Answer)<<48 | uint64(l.Marks)<<56
	return newDigest(1).wordsOf((*[16]byte)(&l.ID)).wordsOf((*[16]byte)(&l.Request)).
		word(uint64(l.Price)).word(uint64(l.Payout)).word(uint64(l.Decided)).word(l.Seq).word(l.Settled).
		word(uint64(l.Keep) | uint64(l.Campaign)<<32).word(uint64(l.Supplier) | uint64(l.Buyer)<<32).
		word(small).sum()
}

// keyRow finds what answered an idempotency key.
type keyRow struct {
	Key   [16]byte
	By    answerer
	Print uint64
	Until uint32
	Kind  answerKind
}

// An answerer is a lead's identifier, or the sequence of the fact that answers: an
// auction that has no name, and a report of many leads, can be found by nothing
// else, and a row of every key should not pay for both.
type answerer [16]byte

type answerKind uint8

const (
	byLead answerKind = 1
	byFact answerKind = 2
)

func (k *keyRow) key() *[16]byte  { return &k.Key }
func (k *keyRow) expires() uint32 { return k.Until }
func (k *keyRow) digest() uint64 {
	return newDigest(2).wordsOf(&k.Key).wordsOf((*[16]byte)(&k.By)).word(k.Print).word(uint64(k.Until) | uint64(k.Kind)<<32).sum()
}

// dupRow remembers a value of an accepted lead.
type dupRow struct {
	Key   market.DupKey
	Lead  market.LeadID
	Until uint32
}

func (d *dupRow) key() *[16]byte  { return (*[16]byte)(&d.Key) }
func (d *dupRow) expires() uint32 { return d.Until }
func (d *dupRow) digest() uint64 {
	return newDigest(3).wordsOf((*[16]byte)(&d.Key)).wordsOf((*[16]byte)(&d.Lead)).word(uint64(d.Until)).sum()
}

func (d digest) wordsOf(id *[16]byte) digest {
	return d.word(binary.LittleEndian.Uint64(id[:8])).word(binary.LittleEndian.Uint64(id[8:]))
}

// seconds rounds a time in Unix nanoseconds up to whole seconds. What a row's
// 32 bits cannot say, in 2106 and later, is as late as they can.
func seconds(nanos int64) uint32 {
	whole := nanos / 1_000_000_000
	if nanos%1_000_000_000 > 0 {
		whole++
	}
	return uint32(min(max(whole, 0), math.MaxUint32))
}
