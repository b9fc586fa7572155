package report

import (
	"context"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
)

// A batch is what one transaction changes, gathered in memory: of a row that changes
// ten times only the last is written, and of all that is added to a cell the sum.
// Rows that are not in it are read from the file first. It is bounded by the entries
// that are taken into it, and by full.
type batch struct {
	ctx     context.Context //nolint:containedctx // of this one transaction's reads
	kept    rows
	sources *sources

	leads    map[market.LeadID]*lead // nil: the file has no such lead
	posts    map[postKey]*post
	hooks    map[hookKey]*hook
	auctions []auction
	asked    map[market.AuctionID]int // of auctions, those that a lead may be sold at
	bids     []bid
	fine     map[cell]*measures
	paces    map[pace]*histogram
	entries  []ledger.Entry
	parties  []ledger.Party

	seq uint64 // last entry that was taken
	at  int64
	n   int
}

// rows are those that the file has.
type rows interface {
	lead(ctx context.Context, id market.LeadID) (*lead, error) // nil: none
	post(ctx context.Context, key postKey) (*post, error)
	hook(ctx context.Context, key hookKey) (*hook, error)
	// origin is the source and the state of an auction; none where it is not known.
	origin(ctx context.Context, id market.AuctionID) (source int64, state string, err error)
}

const (
	batchEntries = 4096
	batchRows    = 50_000
)

func newBatch(ctx context.Context, kept rows, names *sources) *batch {
	return &batch{
		ctx: ctx, kept: kept, sources: names,
		asked: map[market.AuctionID]int{}, leads: map[market.LeadID]*lead{}, posts: map[postKey]*post{}, hooks: map[hookKey]*hook{},
		fine: map[cell]*measures{}, paces: map[pace]*histogram{},
	}
}

// full tells that it has to be written.
func (b *batch) full() bool {
	return b.n >= batchEntries || len(b.bids)+len(b.leads)+len(b.fine) >= batchRows
}

// take takes the next fact. Nothing of it is kept but copies.
func (b *batch) take(seq uint64, at int64, fact event.Event) error {
	b.seq, b.at = seq, at
	b.n++
	switch fact := fact.(type) {
	case *event.LeadDecided:
		return b.decided(fact)
	case *event.AuctionHeld:
		b.held(fact)
		return nil
	case *event.PostTried:
		return b.tried(fact)
	case *event.PostSettled:
		return b.settled(fact)
	case *event.StatusChanged:
		return b.changed(fact)
	case *event.WebhookTried:
		return b.told(fact)
	case *event.LeadsErased:
		return b.erased(fact)
	}
	return nil
}

// count adds to the cells of a time.
func (b *batch) count(c cell, measure int, n int64) {
	c.quarter = quarterOf(b.at)
	into(b.fine, c)[measure] += n
}

// into is a sum, which begins with none.
func into[K comparable, V any](sums map[K]*V, key K) *V {
	found := sums[key]
	if found == nil {
		found = new(V)
		sums[key] = found
	}
	return found
}

// clocked counts a time that a buyer took.
func (b *batch) clocked(c cell, kind paceKind, elapsed int64) {
	c = c.only(parties)
	c.quarter, c.currency = quarterOf(b.at), market.Currency{}
	into(b.paces, pace{c, kind}).count(uint64(slotOf(elapsed)), 1)
}
