package report

import (
	"context"
	"io"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/wal"

	"pingpost/internal/must"
)

// benchLog is leads of an auction of four buyers, each posted and delivered: two facts
// a lead, as a busy exchange logs them.
type benchLog struct {
	*testLog
	leads int
}

func (l benchLog) Durable() (uint64, int64) { return uint64(2 * l.leads), start.UnixNano() }

func (l benchLog) NewReader(from uint64) (Reader, error) {
	return &benchReader{log: l, next: max(1, from)}, nil
}

type benchReader struct {
	log  benchLog
	next uint64
	data []byte
}

var benchStates = []string{"CA", "NV", "TX", "NY", "FL"}

func (r *benchReader) Next() (wal.Entry, error) {
	if r.next > uint64(2*r.log.leads) {
		return wal.Entry{}, io.EOF
	}
	n := int(r.next-1) / 2
	at := start.Add(time.Duration(n) * time.Millisecond)
	id := market.ComposeID(at.UnixMilli(), [10]byte{byte(n >> 16), byte(n >> 8), byte(n)})
	sold := sale(market.Ref(1+n%4), 5_000_000)
	var fact event.Event = &event.PostSettled{Lead: id, Campaign: 1, Supplier: 1, Settlement: event.SettledDelivered, Sale: sold, Status: 201, Attempts: 1, Elapsed: 20e6}
	if r.next%2 == 1 {
		lead := &event.LeadDecided{
			Lead: id, Campaign: 1, Supplier: market.Ref(1 + n%3), Sale: sold, Post: event.PostIntent{URL: "https://b.example"},
			Fields:  []event.Field{text("state", benchStates[n%5]), text("source", "search")},
			Auction: event.EmbeddedAuction{ID: market.AuctionID(id)},
		}
		for b := range 4 {
			lead.Auction.Bids = append(lead.Auction.Bids, event.Bid{
				FilterSet: uint32(b), Buyer: market.Ref(b + 1), Outcome: market.OutcomeLost, Elapsed: int64(n%100) * 1e6, Amount: 5_000_000, Currency: usd, Status: 200,
			})
		}
		lead.Auction.Bids[n%4].Outcome = market.OutcomeWon
		fact = lead
	}
	r.data = event.Append(r.data[:0], fact)
	r.next++
	return wal.Entry{Seq: r.next - 1, At: at.UnixNano(), Data: r.data}, nil
}

func (*benchReader) Close() {}

const benchLeads = 20_000

// BenchmarkRebuild builds a report of leads with their bids, without the rests that it
// takes beside an exchange that serves.
func BenchmarkRebuild(b *testing.B) {
	for b.Loop() {
		log := benchLog{newLog(), benchLeads}
		r := New(options(log.testLog, b.TempDir()))
		r.opt.Source = log
		f := must.Value(r.openOrCreateFile(context.Background()))(b)
		reader, _ := log.NewReader(1)
		for more := true; more; {
			more = must.Value(r.applyBatch(context.Background(), f, reader))(b)
		}
		if f.position.seq != 2*benchLeads {
			b.Fatalf("it reached %d", f.position.seq)
		}
		must.Succeed(b, f.close())
	}
	b.ReportMetric(float64(benchLeads)*float64(b.N)/b.Elapsed().Seconds(), "leads/s")
}
