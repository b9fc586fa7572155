package report

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/wal"
)

var (
	scaleLeads = flag.Int("scale.leads", 0, "measure the pages of a report of so many leads; 0: do not")
	scaleDir   = flag.String("scale.dir", "", "folder whose report is measured, or made there; empty: one for this run")
)

// scaleLog is a month of a busy exchange: 20 campaigns, each with 5 suppliers and 8
// buyers of its own or shared, in 50 states and of 4 sources; some are rare.
type scaleLog struct{ leads int }

const scaleSpan = 30 * 24 * time.Hour

func (scaleLog) Life() Life                 { return Life{[16]byte{7}, 1} }
func (l scaleLog) Durable() (uint64, int64) { return uint64(l.leads), l.at(l.leads - 1).UnixNano() }
func (l scaleLog) at(n int) time.Time {
	return start.Add(scaleSpan / time.Duration(l.leads) * time.Duration(n))
}

func (scaleLog) NameOf(kind event.ObjectKind, ref market.Ref) string {
	if ref == 0 {
		return ""
	}
	return fmt.Sprintf("%d_%d", kind, ref)
}

func (scaleLog) RefOf(kind event.ObjectKind, id string) (ref market.Ref) {
	var of event.ObjectKind
	_, _ = fmt.Sscanf(id, "%d_%d", &of, &ref)
	return ref
}

func (l scaleLog) NewReader(from uint64) (Reader, error) {
	return &scaleReader{log: l, next: max(1, from)}, nil
}

type scaleReader struct {
	log  scaleLog
	next uint64
	data []byte
}

// often is one of so many, or rarely one more.
func often(n, of int) market.Ref {
	if n%100_003 == 0 {
		return market.Ref(of + 1)
	}
	return market.Ref(1 + n*7919%of)
}

func (r *scaleReader) Next() (wal.Entry, error) {
	n := int(r.next - 1)
	if n >= r.log.leads {
		return wal.Entry{}, io.EOF
	}
	at := r.log.at(n)
	id := market.ComposeID(at.UnixMilli(), [10]byte{byte(n >> 16), byte(n >> 8), byte(n)})
	dice := rand.New(rand.NewPCG(uint64(n), 7)) //nolint:gosec // no secret
	campaign := often(n, 20)
	lead := &event.LeadDecided{
		Lead: id, Campaign: campaign, Supplier: market.Ref(1 + (int(campaign)*5+dice.IntN(5))%50),
		Fields: []event.Field{
			text("state", market.USState(1+dice.IntN(50)).String()), text("source", benchSources[dice.IntN(len(benchSources))]),
		},
		Auction: event.EmbeddedAuction{ID: market.AuctionID(id)},
	}
	if n%100_003 == 0 {
		lead.Supplier = 51
	}
	first := dice.IntN(8)
	for b := range 4 {
		buyer := market.Ref(1 + (int(campaign)*8+(first+b)%8)%40)
		if n%100_003 == 0 && b == 0 {
			buyer = 41
		}
		lead.Auction.Bids = append(lead.Auction.Bids, event.Bid{
			FilterSet: uint32(b), Buyer: buyer, Outcome: market.OutcomeLost, Elapsed: int64(1e6 * (20 + 60*dice.ExpFloat64())),
			Amount: 5_000_000, Currency: usd, Status: 200,
		})
	}
	if n%3 == 0 {
		lead.Auction.Bids[0].Outcome = market.OutcomeWon
		lead.Sale = sale(lead.Auction.Bids[0].Buyer, 5_000_000)
	} else if lead.Reason = market.ReasonNoBid; n%50_021 == 1 {
		lead.Reason = market.ReasonInsufficientFunds
	}
	lead.Sale.Test = n%20_011 == 0
	r.data = event.Append(r.data[:0], lead)
	r.next++
	return wal.Entry{Seq: r.next - 1, At: at.UnixNano(), Data: r.data}, nil
}

func (*scaleReader) Close() {}

var benchSources = []string{"search", "facebook", "mail", "partner"}

// scaled is a report of so many leads.
func newScaleReport(t *testing.T) *Report {
	t.Helper()
	log, dir := scaleLog{*scaleLeads}, *scaleDir
	if dir == "" {
		dir = t.TempDir()
	}
	opt := options(newLog(), filepath.Join(dir, fmt.Sprint(log.leads)))
	opt.Source, opt.checkInterval, opt.Now = log, 24*time.Hour, func() time.Time { return start.Add(scaleSpan) }
	r := New(opt)
	f, err := r.open(context.Background())
	mustNil(t, err)
	reader, err := log.NewReader(f.position.seq + 1)
	mustNil(t, err)
	began, from := time.Now(), f.position.seq
	for more := true; more; {
		more, err = r.applyBatch(context.Background(), f, reader)
		mustNil(t, err)
	}
	t.Logf("%.0f leads a second written", float64(f.position.seq-from)/time.Since(began).Seconds())
	r.setFile(f)
	t.Cleanup(func() { mustNil(t, f.close()) })
	return r
}

// TestScale measures how long each page of a large report takes, the first time and again.
// It holds nothing but that they are answered.
func TestScale(t *testing.T) {
	if *scaleLeads == 0 {
		t.Skip("it is a measurement: -scale.leads=10000000 takes minutes and gigabytes")
	}
	r := newScaleReport(t)
	rare := func(kind event.ObjectKind, of int) string { return r.opt.Source.NameOf(kind, market.Ref(of+1)) }
	ago := func(days int) int64 { return start.Add(scaleSpan - time.Duration(days)*24*time.Hour).UnixNano() }
	for _, row := range []struct {
		name string
		s    Search
	}{
		{"newest", Search{}},
		{"of three weeks ago", Search{From: ago(21), To: ago(20)}},
		{"a supplier's", Search{Supplier: "1_3"}},
		{"a rare supplier's", Search{Supplier: rare(event.ObjectSupplier, 50)}},
		{"a rare buyer's", Search{Buyer: rare(event.ObjectBuyer, 40)}},
		{"a buyer's in one state", Search{Buyer: r.opt.Source.NameOf(event.ObjectBuyer, 3), State: "CA"}},
		{"a rare campaign's", Search{Campaign: rare(event.ObjectCampaign, 20)}},
		{"a rare reason", Search{Reason: "insufficient_funds"}},
		{"a reason, one campaign, one state", Search{Reason: "no_bid", Campaign: r.opt.Source.NameOf(event.ObjectCampaign, 3), State: "TX"}},
		{"a status that none has", Search{Status: "returned"}},
		{"test leads", Search{Test: new(true)}},
		{"a state and a source", Search{State: "CA", Source: "mail"}},
		{"one lead", Search{Lead: market.ComposeID(r.opt.Source.(scaleLog).at(1000).UnixMilli(), [10]byte{0, 3, 232})}},
	} {
		row.s.Limit = 50
		r.measure(t, "leads: "+row.name, func() (string, error) {
			found, page, err := r.Leads(context.Background(), row.s)
			return fmt.Sprintf("%d found, complete %t", len(found), page.Complete), err
		})
		if row.s.Reason == "" && row.s.Status == "" && row.s.Lead.IsZero() && row.s.State == "" {
			r.measure(t, "auctions: "+row.name, func() (string, error) {
				found, page, err := r.Auctions(context.Background(), row.s)
				return fmt.Sprintf("%d found, complete %t", len(found), page.Complete), err
			})
		}
	}
	for _, days := range []int{1, 7, 30} {
		r.measure(t, fmt.Sprintf("unmatched: %d days", days), func() (string, error) {
			u, err := r.Unmatched(context.Background(), Search{From: ago(days), To: ago(0)})
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d of %d", u.Unsold, u.Leads), nil
		})
	}
	r.measureQuestions(t, ago)
}

// measureQuestions asks what the pages of reports and statements, and the overview, ask.
func (r *Report) measureQuestions(t *testing.T, ago func(days int) int64) {
	t.Helper()
	newYork, err := time.LoadLocation("America/New_York")
	mustNil(t, err)
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	mustNil(t, err)
	for _, row := range []struct {
		zone *time.Location
		days int
		only map[Dimension]string
		by   []Dimension
	}{
		{days: 1},
		{days: 1, by: []Dimension{ByHour}},
		{days: 7, by: []Dimension{ByHour}},
		{days: 30, by: []Dimension{ByHour}},
		{days: 30, by: []Dimension{ByDay}},
		{days: 30, by: []Dimension{ByDay}, zone: newYork},
		{days: 30, by: []Dimension{ByDay}, zone: kolkata},
		{days: 30, by: []Dimension{ByCampaign}},
		{days: 30, by: []Dimension{BySupplier}, zone: newYork},
		{days: 30, by: []Dimension{ByDay, ByCampaign}},
		{days: 30, by: []Dimension{ByDay, ByBuyer}},
		{days: 30, by: []Dimension{ByDay, ByBuyer}, zone: newYork},
		{days: 30, by: []Dimension{ByDay, ByBuyer}, zone: kolkata},
		{days: 30, by: []Dimension{ByCampaign, ByBuyer}},
		{days: 30, by: []Dimension{ByDay, ByCampaign, ByBuyer}},
		{days: 30, by: []Dimension{ByCampaign, BySupplier, ByBuyer}},
		{days: 30, by: []Dimension{ByDay, ByCampaign}, only: map[Dimension]string{BySupplier: "1_7"}},
		{days: 30, by: []Dimension{ByState}},
		{days: 30, by: []Dimension{ByDay, ByState}},
		{days: 30, by: []Dimension{ByDay, ByState}, zone: newYork},
		{days: 30, by: []Dimension{BySource}, only: map[Dimension]string{BySupplier: "1_7"}},
		{days: 30, by: []Dimension{ByReason}},
		{days: 30, by: []Dimension{ByReason}, only: map[Dimension]string{ByBuyer: "2_7"}},
		{days: 1, by: []Dimension{BySource, ByState}},
		{days: 30, by: []Dimension{BySource, ByState}},
	} {
		q := Question{By: row.by, From: ago(row.days), To: ago(0), Zone: row.zone, Only: row.only}
		what := fmt.Sprintf("report: %v of %d days", row.by, row.days)
		if row.only != nil {
			what += fmt.Sprintf(", one %v", slices.Collect(maps.Keys(row.only)))
		}
		if row.zone != nil {
			year, month, day := time.Unix(0, q.From).UTC().Date()
			q.From = time.Date(year, month, day, 0, 0, 0, 0, row.zone).UnixNano()
			q.To = time.Date(year, month, day+row.days-1, 0, 0, 0, 0, row.zone).UnixNano()
			what += " in " + row.zone.String()
		}
		r.measure(t, what, func() (string, error) {
			answer, err := r.Ask(context.Background(), q)
			if err != nil {
				return "", err
			}
			defer answer.Close()
			rows, leads := 0, int64(0)
			for row, err := answer.Next(); !errors.Is(err, io.EOF); row, err = answer.Next() {
				if err != nil {
					return "", err
				}
				rows, leads = rows+1, leads+row.Count("leads")
			}
			return fmt.Sprintf("%d rows, %d leads", rows, leads), nil
		})
	}
}

func (r *Report) measure(t *testing.T, what string, do func() (string, error)) {
	t.Helper()
	took := [2]time.Duration{}
	said := ""
	for i := range took {
		began := time.Now()
		var err error
		if said, err = do(); errors.As(err, new(*Fault)) {
			said = err.Error()
		} else if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		took[i] = time.Since(began).Round(100 * time.Microsecond)
	}
	t.Logf("%-56s %9s %9s  %s", what, took[0], took[1], said)
}
