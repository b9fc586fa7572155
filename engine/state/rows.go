package state

import (
	"encoding/binary"
	"math"

	"pingpost/engine/market"
)

// AnswerToSupplier is the exchange's answer to the supplier of a lead. Once given, it never changes,
// even if the lead's status changes later.
type AnswerToSupplier uint8

const (
	AnswerNone      AnswerToSupplier = 0 // no answer yet: the lead is open
	AnswerAccepted  AnswerToSupplier = 1
	AnswerUnmatched AnswerToSupplier = 2
)

// Lead is the row of a lead in memory. The log entry with sequence Seq holds the lead's other
// fields.
type Lead struct {
	ID       market.LeadID
	Request  market.RequestID
	Price    market.Money
	Payout   market.Money
	Decided  int64  // Unix nanoseconds
	Seq      uint64 // of the LeadDecided event
	Settled  uint64 // sequence of the event that ended its last post; zero: none ended
	Keep     uint32 // end of the lead's retention in memory, Unix seconds
	Campaign market.PermanentNumber
	Supplier market.PermanentNumber
	Buyer    market.PermanentNumber
	Currency market.Currency
	Status   market.LeadStatus
	Delivery market.DeliveryState
	Reason   market.UnsoldReason
	Answer   AnswerToSupplier
	LeadFlags
}

// LeadFlags packs small facts into the last byte of a lead's row. The lowest two bits are the
// state of the lead's return; the next bit marks a test lead.
type LeadFlags uint8

const (
	returnStateMask LeadFlags = 3
	testLeadFlag    LeadFlags = 4
)

// ReturnState returns whether the buyer's return of the lead is pending, approved or refused, or
// that there is no return.
func (m LeadFlags) ReturnState() market.ReturnState { return market.ReturnState(m & returnStateMask) }

// IsTest reports whether the lead is a test lead, which uses no caps, money, turns, monthly
// counts or duplicate values.
func (m LeadFlags) IsTest() bool { return m&testLeadFlag != 0 }

// setReturnState replaces the state of the return and keeps the other bits.
func (m *LeadFlags) setReturnState(state market.ReturnState) {
	*m = *m&^returnStateMask | LeadFlags(state)
}

func (l *Lead) key() *[16]byte { return (*[16]byte)(&l.ID) }

// expiryUnixSeconds returns the time from which the table may remove the lead. A lead whose
// delivery is pending or unknown never expires, because the event that settles the delivery still
// needs its row.
func (l *Lead) expiryUnixSeconds() uint32 {
	if l.Delivery == market.DeliveryPending || l.Delivery == market.DeliveryUnknown {
		return math.MaxUint32
	}
	return l.Keep
}

// contentHash hashes all fields of the row, for State.Hash.
func (l *Lead) contentHash() uint64 {
	small := uint64(l.Currency[0]) | uint64(l.Currency[1])<<8 | uint64(l.Currency[2])<<16 |
		uint64(l.Status)<<24 | uint64(l.Delivery)<<32 | uint64(l.Reason)<<40 | uint64(l.Answer)<<48 | uint64(l.LeadFlags)<<56
	return newRunningHash(1).addID16((*[16]byte)(&l.ID)).addID16((*[16]byte)(&l.Request)).
		addWord(uint64(l.Price)).addWord(uint64(l.Payout)).addWord(uint64(l.Decided)).addWord(l.Seq).addWord(l.Settled).
		addWord(uint64(l.Keep) | uint64(l.Campaign)<<32).addWord(uint64(l.Supplier) | uint64(l.Buyer)<<32).
		addWord(small).sum()
}

// idempotencyRow stores the use of an idempotency key: the fingerprint of the request's body, and
// a reference to the answer that repeats get.
type idempotencyRow struct {
	Key         [16]byte
	AnsweredBy  leadIDOrEventSeq
	Fingerprint uint64
	Until       uint32
	Kind        leadIDOrEventSeqKind
}

// leadIDOrEventSeq says where the answer to the first request with an idempotency key is
// found: at a lead, by its identifier, or in an event, by its sequence. An auction without a name
// and a report on many leads have no identifier, so they need the sequence. One field for both
// keeps the row small.
type leadIDOrEventSeq [16]byte

// leadIDOrEventSeqKind says how an leadIDOrEventSeq is to be read.
type leadIDOrEventSeqKind uint8

const (
	byLead     leadIDOrEventSeqKind = 1
	bySequence leadIDOrEventSeqKind = 2
)

func (k *idempotencyRow) key() *[16]byte            { return &k.Key }
func (k *idempotencyRow) expiryUnixSeconds() uint32 { return k.Until }
func (k *idempotencyRow) contentHash() uint64 {
	return newRunningHash(2).addID16(&k.Key).addID16((*[16]byte)(&k.AnsweredBy)).addWord(k.Fingerprint).addWord(uint64(k.Until) | uint64(k.Kind)<<32).sum()
}

// duplicateCheckRow stores one value of an accepted lead (as a hash), by which a later lead is
// recognized as a duplicate until the row expires.
type duplicateCheckRow struct {
	Key   market.DuplicateKey
	Lead  market.LeadID
	Until uint32
}

func (d *duplicateCheckRow) key() *[16]byte            { return (*[16]byte)(&d.Key) }
func (d *duplicateCheckRow) expiryUnixSeconds() uint32 { return d.Until }
func (d *duplicateCheckRow) contentHash() uint64 {
	return newRunningHash(3).addID16((*[16]byte)(&d.Key)).addID16((*[16]byte)(&d.Lead)).addWord(uint64(d.Until)).sum()
}

// addID16 adds a 16-byte identifier as two words.
func (d runningHash) addID16(id *[16]byte) runningHash {
	return d.addWord(binary.LittleEndian.Uint64(id[:8])).addWord(binary.LittleEndian.Uint64(id[8:]))
}

// unixSecondsRoundedUp converts Unix nanoseconds to whole seconds, rounded up. A time after
// February 2106, which 32 bits cannot hold, becomes the greatest value.
func unixSecondsRoundedUp(unixNanos int64) uint32 {
	whole := unixNanos / 1_000_000_000
	if unixNanos%1_000_000_000 > 0 {
		whole++
	}
	return uint32(min(max(whole, 0), math.MaxUint32))
}

// minRowBytes is a lower bound of the size of an encoded row, which has at least two identifiers,
// or one identifier and two times. loadRows and loadOutboxShard check row counts against it, so
// that a damaged count cannot allocate memory.
const minRowBytes = 32

// loadRows decodes the rows into the empty shard and builds the index. The section contains the
// events up to sectionSeq. A count that does not fit the section marks it as damaged.
func (shard *rowShard[R, P]) loadRows(sectionSeq uint64, body *snapshotSectionCodec) {
	t := &shard.table
	shard.loaded = sectionSeq
	var cursor uint64
	encodeOrDecodeUvarint(body, &cursor)
	encodeOrDecodeUvarint(body, &t.soonest)
	encodeOrDecodeUvarint(body, &t.nextSoonest)
	n := body.encodeOrDecodeCount(0)
	if n*minRowBytes > len(body.buf) {
		body.markDamaged()
		return
	}
	t.cursor = int(min(cursor, uint64(n)))
	for range n {
		var empty R
		added := P(t.rows.push(&empty))
		added.encodeOrDecodeSnapshot(body)
		t.sums.add(added.expiryUnixSeconds(), added.contentHash())
	}
	if body.err != nil || n == 0 {
		return
	}
	size := 8
	for (n+1)*4 > size*3 {
		size *= 2
	}
	t.rebuildIndex(size)
}

// rowLoader decodes the sections that have only rows in its own goroutine, while the caller decodes the others. These
// sections have two thirds of a snapshot's bytes. Both goroutines add up content hashes of rows. The loader does so in
// sums of its own, which wait adds to those of the state. They share no other memory.
type rowLoader struct {
	state    *State
	sections chan snapshotSectionReader
	bodies   chan []byte // for reuse
	ended    chan error  // of the first section that cannot be decoded
	sums     rowHashSums
}

// sectionsAhead limits the memory of sections that wait for the loader.
const sectionsAhead = 4

func (s *State) startRowLoader() *rowLoader {
	l := &rowLoader{
		state: s, sections: make(chan snapshotSectionReader, sectionsAhead),
		bodies: make(chan []byte, sectionsAhead+2), ended: make(chan error, 1),
	}
	for i := range shardCount {
		s.duplicates[i].table.sums, s.idempotency[i].table.sums = &l.sums, &l.sums
	}
	go func() {
		var first error
		for section := range l.sections {
			if err := s.loadSection(&section); err != nil && first == nil {
				first = section.describe(err)
			}
			l.bodies <- section.body
		}
		l.ended <- first
	}()
	return l
}

// load gives the section's body to the loader, and returns memory for the next body.
func (l *rowLoader) load(in *snapshotSectionReader) (body []byte) {
	l.sections <- *in
	select {
	case body = <-l.bodies:
	default:
	}
	return body
}

// wait ends the loader after its last section, and adds its sums to those of the state.
func (l *rowLoader) wait() error {
	close(l.sections)
	err := <-l.ended
	s := l.state
	s.rowSums.addAll(&l.sums)
	for i := range shardCount {
		s.duplicates[i].table.sums, s.idempotency[i].table.sums = &s.rowSums, &s.rowSums
	}
	return err
}
