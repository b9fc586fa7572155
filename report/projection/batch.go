package projection

import (
	"context"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/report/histogram"
)

// A batch is what one transaction changes, gathered in memory: of a row that changes
// ten times only the last is written, and of all that is added to a cell the sum.
// Rows that are not in it are read from the file first. It is bounded by the entries
// that are taken into it, and by full.
type Batch struct {
	ctx     context.Context //nolint:containedctx // of this one transaction's reads
	stored  StoredRows
	Sources *Sources

	Leads         map[market.LeadID]*Lead // nil: the file has no such lead
	Posts         map[PostKey]*Post
	Webhooks      map[WebhookKey]*Webhook
	Auctions      []Auction
	auctionIndex  map[market.AuctionID]int // of auctions, those that a lead may be sold at
	Bids          []Bid
	Sums          map[SumKey]*Measures
	Latencies     map[LatencyKey]*histogram.Histogram
	ledgerEntries []ledger.Entry
	parties       []ledger.Party

	Seq     uint64 // last entry that was taken
	At      int64
	Entries int
}

// rows are those that the file has.
type StoredRows interface {
	Lead(ctx context.Context, id market.LeadID) (*Lead, error) // nil: none
	Post(ctx context.Context, key PostKey) (*Post, error)
	Webhook(ctx context.Context, key WebhookKey) (*Webhook, error)
	// origin is the source and the state of an auction; none where it is not known.
	Origin(ctx context.Context, id market.AuctionID) (source int64, state string, err error)
}

const (
	MaxEntries = 4096
	maxRows    = 50_000
)

func NewBatch(ctx context.Context, kept StoredRows, names *Sources) *Batch {
	return &Batch{
		ctx: ctx, stored: kept, Sources: names,
		auctionIndex: map[market.AuctionID]int{}, Leads: map[market.LeadID]*Lead{}, Posts: map[PostKey]*Post{}, Webhooks: map[WebhookKey]*Webhook{},
		Sums: map[SumKey]*Measures{}, Latencies: map[LatencyKey]*histogram.Histogram{},
	}
}

// full tells that it has to be written.
func (b *Batch) IsFull() bool {
	return b.Entries >= MaxEntries || len(b.Bids)+len(b.Leads)+len(b.Sums) >= maxRows
}

// take takes the next fact. Nothing of it is kept but copies.
func (b *Batch) Apply(seq uint64, at int64, fact event.Event) error {
	b.Seq, b.At = seq, at
	b.Entries++
	switch fact := fact.(type) {
	case *event.LeadDecided:
		return b.applyLeadDecided(fact)
	case *event.AuctionHeld:
		b.applyAuctionHeld(fact)
		return nil
	case *event.PostTried:
		return b.applyPostTried(fact)
	case *event.PostSettled:
		return b.applyPostSettled(fact)
	case *event.StatusChanged:
		return b.applyStatusChanged(fact)
	case *event.WebhookTried:
		return b.applyWebhookTried(fact)
	case *event.LeadsErased:
		return b.applyLeadsErased(fact)
	}
	return nil
}

// count adds to the cells of a time.
func (b *Batch) count(c SumKey, measure int, n int64) {
	c.Quarter = QuarterOf(b.At)
	Ensure(b.Sums, c)[measure] += n
}

// into is a sum, which begins with none.
func Ensure[K comparable, V any](sums map[K]*V, key K) *V {
	found := sums[key]
	if found == nil {
		found = new(V)
		sums[key] = found
	}
	return found
}

// clocked counts a time that a buyer took.
func (b *Batch) recordLatency(c SumKey, kind LatencyKind, elapsed int64) {
	c = c.Project(Parties)
	c.Quarter, c.Currency = QuarterOf(b.At), market.Currency{}
	Ensure(b.Latencies, LatencyKey{c, kind}).Record(elapsed)
}
