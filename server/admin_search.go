package server

import (
	"context"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/report"
)

// A page of what is searched for.
const (
	usualFound = 50
	mostFound  = 500

	maxSearches = 2 // are under way at once; others wait a little
	searchWaits = time.Second
)

var faultSearches = fault{503, errcode.Unavailable, "Other searches are under way. Ask again after the time in Retry-After."}

// searching lets a few handlers in at once, that read the report; it answers where there
// is none.
func (a *Admin) searching(h func(ctx *fasthttp.RequestCtx, from *report.Report)) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		from := a.reportOrFail(ctx)
		if from == nil {
			return
		}
		late := time.NewTimer(searchWaits)
		defer late.Stop()
		select {
		case a.searches <- struct{}{}:
			defer func() { <-a.searches }()
			h(ctx, from)
		case <-late.C:
			a.fail(ctx, faultSearches)
		}
	}
}

// searchReader reads a search, and keeps all that is wrong with it.
type searchReader struct {
	query  *fasthttp.Args
	faults []market.FieldError
}

func (r *searchReader) fault(field, code, expected string) {
	r.faults = append(r.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

func (r *searchReader) text(name string) string { return string(r.query.Peek(name)) }

// span reads what of, and of what time, all searches are.
func (r *searchReader) span() (s report.Search) {
	s.Campaign, s.Supplier, s.Buyer = r.text("campaign"), r.text("supplier"), r.text("buyer")
	s.From, s.To = r.instant("from"), r.instant("to")
	if s.From != 0 && s.To != 0 && s.From >= s.To {
		r.fault("to", errcode.FieldOutOfRange, "a time after from; the search ends before it")
	}
	return s
}

// common reads what searches that list what they find are by.
func (r *searchReader) common() report.Search {
	s := r.span()
	s.Limit = usualFound
	if text := r.text("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if s.Limit = n; err != nil || n < 1 || n > mostFound {
			r.fault("limit", errcode.FieldOutOfRange, "1 to "+strconv.Itoa(mostFound))
		}
	}
	switch text := r.text("test"); text {
	case "":
	case "true", "1", "false", "0":
		test := text == "true" || text == "1"
		s.Test = &test
	default:
		r.fault("test", errcode.FieldNotAllowedValue, "true or false")
	}
	return s
}

func (r *searchReader) instant(name string) int64 {
	text := r.text(name)
	if text == "" {
		return 0
	}
	at, ok := parseInstant(text)
	if !ok {
		r.fault(name, errcode.FieldInvalidFormat, "a day (2026-11-30, its beginning in UTC) or a time (2026-11-30T12:00:00Z)")
	}
	return at
}

// lead reads a search for leads.
func (r *searchReader) lead() report.Search {
	s := r.common()
	s.Status, s.Reason, s.State, s.Source = r.text("status"), r.text("reason"), r.text("state"), r.text("source")
	if text := r.text("after"); text != "" {
		id, ok := market.ParseLeadID(text)
		if s.After = id; !ok {
			r.fault("after", errcode.FieldInvalidFormat, "next of the page before")
		}
	}
	text := r.text("q")
	lead, isLead := market.ParseLeadID(text)
	auction, isAuction := market.ParseAuctionID(text)
	ping, isPing := market.ParsePingID(text)
	switch {
	case text == "":
	case isLead:
		s.Lead = lead
	case isAuction:
		s.Auction = auction
	case isPing:
		s.Auction = market.AuctionID(ping)
	default:
		r.fault("q", errcode.FieldInvalidFormat, "the id of a lead (lead_…), an auction (auc_…) or a ping (ping_…)")
	}
	return s
}

// auction reads a search for auctions.
func (r *searchReader) auction() report.Search {
	s := r.common()
	s.Outcome = r.text("outcome")
	if text := r.text("after"); text != "" {
		id, ok := market.ParseAuctionID(text)
		if s.After = id; !ok {
			r.fault("after", errcode.FieldInvalidFormat, "next of the page before")
		}
	}
	return s
}

// searchLeads finds leads by what they are: GET leads.
func (a *Admin) searchLeads(ctx *fasthttp.RequestCtx, from *report.Report) {
	r := searchReader{query: ctx.QueryArgs()}
	s := r.lead()
	if len(r.faults) > 0 {
		a.fail(ctx, faultPayload, r.faults...)
		return
	}
	found, page, err := from.Leads(context.Background(), s)
	if err != nil {
		a.failReport(ctx, err)
		return
	}
	body := append(make([]byte, 0, 64+len(found)*foundBytes), `{"leads":[`...)
	for i := range found {
		body = appendFoundLead(comma(body, i), &found[i])
	}
	answerFound(ctx, body, &page, market.LeadID(page.Next).AppendTo)
}

// searchAuctions finds auctions: GET auctions.
func (a *Admin) searchAuctions(ctx *fasthttp.RequestCtx, from *report.Report) {
	r := searchReader{query: ctx.QueryArgs()}
	s := r.auction()
	if len(r.faults) > 0 {
		a.fail(ctx, faultPayload, r.faults...)
		return
	}
	found, page, err := from.Auctions(context.Background(), s)
	if err != nil {
		a.failReport(ctx, err)
		return
	}
	body := append(make([]byte, 0, 64+len(found)*foundBytes), `{"auctions":[`...)
	for i := range found {
		body = appendFoundAuction(comma(body, i), &found[i])
	}
	answerFound(ctx, body, &page, market.AuctionID(page.Next).AppendTo)
}
