package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/report"
	"pingpost/wal"
)

type PagesSpec struct {
	Dir         string
	Leads, Runs int
}

// PagesResult is the duration of the queries of each page.
type PagesResult struct{ Pages []PageTimes }

type PageTimes struct {
	Name         string
	Milliseconds []float64
}

// monthLog is the log of a month. It is generated while it is read.
type monthLog struct {
	leads        int
	began        time.Time
	*state.State // names
}

const monthSpan = 30 * 24 * time.Hour

func (m *monthLog) interval() time.Duration { return monthSpan / time.Duration(m.leads) }

func (m *monthLog) ends() time.Time { return m.began.Add(m.interval() * time.Duration(m.leads)) }

// LogIdentity returns an identity that no other log has.
func (*monthLog) LogIdentity() report.LogIdentity {
	return report.LogIdentity{Exchange: [16]byte{2}, Epoch: 1}
}

// Durable returns the position of the last lead.
func (m *monthLog) Durable() (seq uint64, at int64) { return uint64(m.leads), m.ends().UnixNano() }

// NewReader returns a reader at the first lead.
func (m *monthLog) NewReader(from uint64) (report.LogReader, error) {
	if from > 1 {
		return nil, errors.New("a month is read from its beginning")
	}
	events := newLeadEvents(m.began.UnixNano())
	events.interval = m.interval()
	return &monthLogReader{log: m, events: events}, nil
}

type monthLogReader struct {
	log    *monthLog
	events *leadEvents
	n      int
	data   []byte
}

// Next returns the next lead. One in three has no buyer, and the states vary.
func (r *monthLogReader) Next() (wal.Entry, error) {
	if r.n == r.log.leads {
		return wal.Entry{}, io.EOF
	}
	lead := r.events.leadDecided(r.n)
	r.events.addAuction(ReportBids)
	if r.n%3 == 0 {
		lead.Sale.Buyer, lead.Reason = 0, market.ReasonNoBid
		lead.Auction.Bids[0].Outcome = market.OutcomeNoBid
	}
	lead.Fields[0].Text = []byte(monthStates[r.n%len(monthStates)])
	r.n++
	r.data = event.AppendRecord(r.data[:0], lead)
	return wal.Entry{Seq: uint64(r.n), At: lead.Decided, Data: r.data}, nil
}

// Close does nothing.
func (*monthLogReader) Close() {}

var monthStates = strings.Fields("AL CA DE IL KY MI NE NY OR TX WA WY")

// measurePages builds the report of a month and measures the queries of the pages.
func measurePages(spec *PagesSpec) (*PagesResult, error) {
	m := &monthLog{leads: spec.Leads, began: time.Now().Add(-monthSpan).Truncate(time.Hour), State: state.New()}
	m.Apply(1, m.began.UnixNano(), newLeadEvents(0).namesGiven())
	kept, stop := startReport(m, spec.Dir)
	defer stop()
	if err := waitUntilCurrent(kept); err != nil {
		return nil, err
	}
	result := new(PagesResult)
	for _, page := range pageQueries(kept, m) {
		times := PageTimes{Name: page.name}
		for range spec.Runs {
			began := time.Now()
			if err := page.run(); err != nil {
				return nil, fmt.Errorf("%s: %w", page.name, err)
			}
			times.Milliseconds = append(times.Milliseconds, time.Since(began).Seconds()*1e3)
		}
		result.Pages = append(result.Pages, times)
	}
	return result, nil
}

// pageQuery is the query of a dashboard page.
type pageQuery struct {
	name string
	run  func() error
}

func pageQueries(kept *report.Report, m *monthLog) (pages []pageQuery) {
	const each = 50
	for name, s := range map[string]report.SearchQuery{
		"newest": {}, "of a buyer": {Buyer: "buy_00007"}, "of a campaign in a state": {Campaign: "cmp_00003", State: "TX"},
		"of no buyer": {Reason: market.ReasonNoBid.String()}, "of a status that none has": {Status: "returned"},
		"of three weeks ago": {To: m.ends().Add(-21 * 24 * time.Hour).UnixNano()},
	} {
		s.Limit = each
		pages = append(pages, pageQuery{"leads " + name, func() error {
			_, _, err := kept.SearchLeads(context.Background(), s)
			return err
		}})
	}
	for name, s := range map[string]report.SearchQuery{"newest": {}, "of a buyer that lost": {Buyer: "buy_00007", Outcome: "lost"}} {
		s.Limit = each
		pages = append(pages, pageQuery{"auctions " + name, func() error {
			_, _, err := kept.SearchAuctions(context.Background(), s)
			return err
		}})
	}
	whole := report.Question{Since: true, From: m.began.UnixNano(), To: m.began.Add(monthSpan).UnixNano()}
	pages = append(pages, pageQuery{"why leads were not sold, of a month", func() error {
		_, err := kept.SummarizeUnsold(context.Background(), report.SearchQuery{From: whole.From, To: whole.To})
		return err
	}})
	for name, by := range map[string][]report.Dimension{"day": {report.ByDay}, "buyer": {report.ByBuyer}, "day and buyer": {report.ByDay, report.ByBuyer}} {
		q := whole
		q.By = by
		pages = append(pages, pageQuery{"a month's report by " + name, func() error { return readAll(kept, q) }})
	}
	return pages
}

func readAll(kept *report.Report, q report.Question) error {
	answer, err := kept.Ask(context.Background(), q)
	if err != nil {
		return err
	}
	defer answer.Close()
	for {
		if _, err := answer.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
