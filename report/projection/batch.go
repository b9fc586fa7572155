package projection

import (
	"context"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/report/histogram"
)

// Batch collects in memory the changes of one database transaction. It writes only the last
// state of a row that changes ten times, and only the total of the numbers added to a sum. It
// first reads rows that it does not contain from the database. IsFull bounds its size.
type Batch struct {
	ctx     context.Context //nolint:containedctx // of this one transaction's reads
	stored  StoredRows
	Sources *Sources

	Leads         map[market.LeadID]*Lead // nil: the file has no such lead
	Posts         map[PostKey]*Post
	Webhooks      map[WebhookKey]*Webhook
	Auctions      []Auction
	auctionIndex  map[market.AuctionID]int // indexes in Auctions, for leads that are sold later
	Bids          []Bid
	Sums          map[SumKey]*Measures
	Latencies     map[LatencyKey]*histogram.Histogram
	ledgerEntries []ledger.Entry
	parties       []ledger.Party

	Seq     uint64 // last applied entry
	At      int64
	Entries int
}

// StoredRows reads single rows of the report's database, for changes to them.
type StoredRows interface {
	Lead(ctx context.Context, id market.LeadID) (*Lead, error) // nil if there is no row
	Post(ctx context.Context, key PostKey) (*Post, error)
	Webhook(ctx context.Context, key WebhookKey) (*Webhook, error)
	// Origin returns the source and the state of an auction, or zero values if it is
	// unknown.
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

// IsFull reports whether the batch has so many entries or rows that it must be written now.
func (b *Batch) IsFull() bool {
	return b.Entries >= MaxEntries || len(b.Bids)+len(b.Leads)+len(b.Sums) >= maxRows
}

// Apply adds the changes by one log entry, the event `fact`, to the batch. It stores copies
// only, so the caller may reuse the event.
func (b *Batch) Apply(seq uint64, at int64, fact event.Event) error {
	b.Seq, b.At = seq, at
	b.Entries++
	switch fact := fact.(type) {
	case *event.LeadDecided:
		return b.applyLeadDecided(fact)
	case *event.AuctionHeld:
		b.applyAuctionHeld(fact)
		return nil
	case *event.PostAttempted:
		return b.applyPostAttempt(fact)
	case *event.PostSettled:
		return b.applyPostSettled(fact)
	case *event.StatusChanged:
		return b.applyStatusChanged(fact)
	case *event.WebhookAttempted:
		return b.applyWebhookAttempt(fact)
	case *event.LeadsErased:
		return b.applyLeadsErased(fact)
	}
	return nil
}

// addToSum adds n to one measure of the sum with key c, in the quarter of an hour of the
// current event.
func (b *Batch) addToSum(c SumKey, measure int, n int64) {
	c.Quarter = QuarterOf(b.At)
	GetOrInsert(b.Sums, c)[measure] += n
}

// GetOrInsert returns a pointer to the value of a key. It inserts a zero value if the key is
// missing.
func GetOrInsert[K comparable, V any](sums map[K]*V, key K) *V {
	found := sums[key]
	if found == nil {
		found = new(V)
		sums[key] = found
	}
	return found
}

// recordLatency adds the time that a buyer needed for a ping or a post to the latency
// histogram of c's parties.
func (b *Batch) recordLatency(c SumKey, kind LatencyKind, elapsed int64) {
	c = c.Project(Parties)
	c.Quarter, c.Currency = QuarterOf(b.At), market.Currency{}
	GetOrInsert(b.Latencies, LatencyKey{c, kind}).Record(elapsed)
}
