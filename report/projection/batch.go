package projection

import (
	"context"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/report/histogram"
)

// ChangeBatch collects in memory the changes of one database transaction. Of a row that changes
// ten times it has only the last state, and of a sum only the total of the added numbers. It
// first reads rows that it does not contain from the database. IsFull bounds its size.
type ChangeBatch struct {
	ctx     context.Context //nolint:containedctx // of this one transaction's reads
	stored  StoredRowReader
	Sources *LeadSourceNumbering
	// HashContact returns the hashes by which a search finds the person of a lead; nil: no such search.
	HashContact func(*event.LeadDecided) []ContactHash

	Leads         map[market.LeadID]*LeadRow // nil: the file has no such lead
	Posts         map[PostKey]*PostRow
	Webhooks      map[WebhookKey]*WebhookRow
	Auctions      []AuctionRow
	auctionIndex  map[market.AuctionID]int // indexes in Auctions, for leads that are sold later
	Bids          []BidRow
	Actions       map[market.RequestID]*ActionRow // nil: the file has no such action
	Persons       []PersonRow
	ErasedPersons []market.LeadID // leads of which the file must not have a PersonRow
	Sums          map[SumDimensionValues]*Measures
	Latencies     map[LatencyKey]*histogram.Histogram
	actionBytes   int // of the texts in Actions
	ledgerEntries []ledger.Entry
	parties       []ledger.Party

	Seq     uint64 // last applied entry
	At      int64
	Entries int
}

// StoredRowReader reads single rows of the report's database, for changes to them.
type StoredRowReader interface {
	LoadLeadOrNil(ctx context.Context, id market.LeadID) (*LeadRow, error) // nil if there is no row
	LoadPostOrNil(ctx context.Context, key PostKey) (*PostRow, error)
	LoadWebhookOrNil(ctx context.Context, key WebhookKey) (*WebhookRow, error)
	LoadActionOrNil(ctx context.Context, id market.RequestID) (*ActionRow, error)
	// LoadAuctionSourceAndUSStateOrZero returns the lead source and the US state of an auction, or zero values
	// if it is unknown.
	LoadAuctionSourceAndUSStateOrZero(ctx context.Context, id market.AuctionID) (source int64, state string, err error)
}

const (
	MaxEntries     = 4096
	maxRows        = 50_000
	maxActionBytes = 8 << 20
)

func NewChangeBatch(ctx context.Context, stored StoredRowReader, sources *LeadSourceNumbering) *ChangeBatch {
	return &ChangeBatch{
		ctx: ctx, stored: stored, Sources: sources,
		auctionIndex: map[market.AuctionID]int{}, Leads: map[market.LeadID]*LeadRow{}, Posts: map[PostKey]*PostRow{}, Webhooks: map[WebhookKey]*WebhookRow{}, Actions: map[market.RequestID]*ActionRow{},
		Sums: map[SumDimensionValues]*Measures{}, Latencies: map[LatencyKey]*histogram.Histogram{},
	}
}

// IsFull reports whether the batch has so many entries or rows that it must be written now.
func (b *ChangeBatch) IsFull() bool {
	return b.Entries >= MaxEntries || len(b.Bids)+len(b.Leads)+len(b.Sums) >= maxRows || b.actionBytes >= maxActionBytes
}

// ApplyEvent adds the changes by one log entry, the event ev, to the batch. It stores copies
// only, so the caller may reuse the event.
func (b *ChangeBatch) ApplyEvent(seq uint64, atNanos int64, ev event.Event) error {
	b.Seq, b.At = seq, atNanos
	b.Entries++
	switch fact := ev.(type) {
	case *event.LeadDecided:
		return b.applyLeadDecided(fact)
	case *event.PingAuctionCompleted:
		b.applyPingAuctionCompleted(fact)
		return nil
	case *event.PostAttemptFailed:
		return b.applyFailedPostAttempt(fact)
	case *event.PostSettled:
		return b.applyPostSettled(fact)
	case *event.LeadStatusChangesDecided:
		return b.applyStatusChanged(fact)
	case *event.WebhookAttemptedOrDecided:
		return b.applyWebhookAttemptOrDecision(fact)
	case *event.PersonalDataOfLeadsErased:
		return b.clearErasedLeads(fact)
	case *event.OperatorActionRecorded:
		return b.applyOperatorAction(fact)
	}
	return nil
}

// addToSum adds amount to one measure of the sum with this key, in the quarter of an hour of
// the current event.
func (b *ChangeBatch) addToSum(key SumDimensionValues, measure int, amount int64) {
	key.Quarter = QuarterHourOf(b.At)
	GetOrInsert(b.Sums, key)[measure] += amount
}

// GetOrInsert returns a pointer to the value of a key. It inserts a zero value if the key is
// missing.
func GetOrInsert[K comparable, V any](values map[K]*V, key K) *V {
	found := values[key]
	if found == nil {
		found = new(V)
		values[key] = found
	}
	return found
}

// recordLatency adds the time that a buyer needed for a ping or a post to the latency
// histogram of the key's parties.
func (b *ChangeBatch) recordLatency(key SumDimensionValues, kind LatencyKind, elapsedNanos int64) {
	key = key.KeepOnlyColumns(Parties)
	key.Quarter, key.Currency = QuarterHourOf(b.At), market.Currency{}
	GetOrInsert(b.Latencies, LatencyKey{key, kind}).Record(elapsedNanos)
}
