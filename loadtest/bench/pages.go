package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/report"
	"pingpost/wal"
)

// pages measures how long the data of the dashboard's pages takes where a report has many
// leads. Its file is made from facts as they would come from the log of a month.
func (b *bench) pages() ([]row, error) {
	dir, err := b.folder("pages")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the run's folder goes at its end
	var result pagesResult
	spec := pagesSpec{Dir: dir, Leads: b.size.paged, Runs: b.size.runs}
	if err := child(b.ctx, nil, []string{collector, processors}, "role-pages", spec, &result); err != nil {
		return nil, err
	}
	for _, page := range result.Pages {
		b.say("%s: %.1f ms", page.Name, page.Took.median())
	}
	slowest := result.Pages[0]
	for _, page := range result.Pages {
		if page.Took.median() > slowest.Took.median() {
			slowest = page
		}
	}
	return []row{{
		what:     fmt.Sprintf("data of a page of the dashboard from a report of %d leads of a month, the slowest of %d pages", b.size.paged, len(result.Pages)),
		measured: fmt.Sprintf("%.0f ms: %s", slowest.Took.median(), slowest.Name), spread: slowest.Took.spread("%.0f"),
		goal: "300 ms", verdict: atMost(slowest.Took.median(), 300, 300),
	}}, nil
}

type pagesSpec struct {
	Dir         string
	Leads, Runs int
}

// pagesResult is what each page took, in milliseconds.
type pagesResult struct{ Pages []pageTook }

type pageTook struct {
	Name string
	Took series
}

// month is the log of a month, which is made as it is read.
type month struct {
	leads int
	began time.Time
	names *state.State
}

const monthSpan = 30 * 24 * time.Hour

func (m *month) apart() time.Duration { return monthSpan / time.Duration(m.leads) }
func (m *month) ends() time.Time      { return m.began.Add(m.apart() * time.Duration(m.leads)) }

// Life is that of no other log.
func (*month) Life() report.Life { return report.Life{Exchange: [16]byte{2}, Epoch: 1} }

// Durable is the last lead.
func (m *month) Durable() (seq uint64, at int64) { return uint64(m.leads), m.ends().UnixNano() }

// ArrivalName is what a number stands for.
func (m *month) NameOf(kind event.NameKind, ref market.Ref) string { return m.names.NameOf(kind, ref) }

// RefOf is a name's number.
func (m *month) RefOf(kind event.NameKind, id string) market.Ref { return m.names.RefOf(kind, id) }

// NewReader begins with the first lead.
func (m *month) NewReader(from uint64) (report.Reader, error) {
	if from > 1 {
		return nil, errors.New("a month is read from its beginning")
	}
	facts := newFacts(m.began.UnixNano())
	facts.apart = m.apart()
	return &monthReader{of: m, facts: facts}, nil
}

type monthReader struct {
	of    *month
	facts *facts
	n     int
	data  []byte
}

// Next is the next lead: of three in a row one finds no buyer, and they come from all
// states.
func (r *monthReader) Next() (wal.Entry, error) {
	if r.n == r.of.leads {
		return wal.Entry{}, io.EOF
	}
	lead := r.facts.lead(r.n)
	r.facts.auctioned(reportBids)
	if r.n%3 == 0 {
		lead.Sale.Buyer, lead.Reason = 0, market.ReasonNoBid
		lead.Auction.Bids[0].Outcome = market.OutcomeNoBid
	}
	lead.Fields[0].Text = []byte(monthStates[r.n%len(monthStates)])
	r.n++
	r.data = event.Append(r.data[:0], lead)
	return wal.Entry{Seq: uint64(r.n), At: lead.Decided, Data: r.data}, nil
}

// Close is the end.
func (*monthReader) Close() {}

var monthStates = statesFrom(0)

// turnPages makes the report of a month and turns its pages.
func turnPages(spec *pagesSpec) (*pagesResult, error) {
	m := &month{leads: spec.Leads, began: time.Now().Add(-monthSpan).Truncate(time.Hour), names: state.New()}
	m.names.Apply(1, m.began.UnixNano(), newFacts(0).names())
	kept, stop := follow(m, spec.Dir)
	defer stop()
	if err := caughtUp(kept); err != nil {
		return nil, err
	}
	result := new(pagesResult)
	for _, page := range pagesOf(kept, m) {
		took := pageTook{Name: page.name}
		for range spec.Runs {
			began := time.Now()
			if err := page.turn(); err != nil {
				return nil, fmt.Errorf("%s: %w", page.name, err)
			}
			took.Took = append(took.Took, time.Since(began).Seconds()*1e3)
		}
		result.Pages = append(result.Pages, took)
	}
	return result, nil
}

// page is one that somebody looks at.
type page struct {
	name string
	turn func() error
}

func pagesOf(kept *report.Report, m *month) (pages []page) {
	const each = 50
	for name, s := range map[string]report.Search{
		"newest": {}, "of a buyer": {Buyer: "buy_00007"}, "of a campaign in a state": {Campaign: "cmp_00003", State: "TX"},
		"of no buyer": {Reason: market.ReasonNoBid.String()}, "of a status that none has": {Status: "returned"},
		"of three weeks ago": {To: m.ends().Add(-21 * 24 * time.Hour).UnixNano()},
	} {
		s.Limit = each
		pages = append(pages, page{"leads " + name, func() error {
			_, _, err := kept.Leads(context.Background(), s)
			return err
		}})
	}
	for name, s := range map[string]report.Search{"newest": {}, "of a buyer that lost": {Buyer: "buy_00007", Outcome: "lost"}} {
		s.Limit = each
		pages = append(pages, page{"auctions " + name, func() error {
			_, _, err := kept.Auctions(context.Background(), s)
			return err
		}})
	}
	whole := report.Question{Since: true, From: m.began.UnixNano(), To: m.began.Add(monthSpan).UnixNano()}
	pages = append(pages, page{"why leads were not sold, of a month", func() error {
		_, err := kept.Unmatched(context.Background(), report.Search{From: whole.From, To: whole.To})
		return err
	}})
	for name, by := range map[string][]report.Dimension{"day": {report.ByDay}, "buyer": {report.ByBuyer}, "day and buyer": {report.ByDay, report.ByBuyer}} {
		q := whole
		q.By = by
		pages = append(pages, page{"a month's report by " + name, func() error { return readAll(kept, q) }})
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
