package admin

import (
	"context"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/report"
	"pingpost/server/httperror"
	"pingpost/server/wire"
)

// Limits of a page of results, and of concurrent searches.
const (
	defaultFound = 50
	maxFound     = 500

	maxSearches = 2 // concurrent searches; others wait for searchWaits
	searchWaits = time.Second
)

var errTooManySearches = httperror.New(503, errcode.Unavailable, "Too many searches are running. Send this request again after the time in Retry-After.")

// withReport calls a handler that reads the report, if there is one and a search slot is
// free.
func (a *Admin) withReport(h func(ctx *fasthttp.RequestCtx, from *report.Report)) fasthttp.RequestHandler {
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
			a.fail(ctx, errTooManySearches)
		}
	}
}

// searchQuery parses a search and collects its field errors.
type searchQuery struct {
	query  *fasthttp.Args
	faults []market.FieldError
}

func (r *searchQuery) fault(field, code, expected string) {
	r.faults = append(r.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

func (r *searchQuery) text(name string) string { return string(r.query.Peek(name)) }

// period parses the filters and the period that all searches have.
func (r *searchQuery) period() (s report.Search) {
	s.Campaign, s.Supplier, s.Buyer = r.text("campaign"), r.text("supplier"), r.text("buyer")
	s.From, s.To = r.instant("from"), r.instant("to")
	if s.From != 0 && s.To != 0 && s.From >= s.To {
		r.fault("to", errcode.FieldOutOfRange, "a time after from; the search ends before it")
	}
	return s
}

// listSearch parses the parameters of searches that list results.
func (r *searchQuery) listSearch() report.Search {
	s := r.period()
	s.Limit = defaultFound
	if text := r.text("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if s.Limit = n; err != nil || n < 1 || n > maxFound {
			r.fault("limit", errcode.FieldOutOfRange, "1 to "+strconv.Itoa(maxFound))
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

func (r *searchQuery) instant(name string) int64 {
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

// leadSearch parses a search for leads.
func (r *searchQuery) leadSearch() report.Search {
	s := r.listSearch()
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

// auctionSearch parses a search for auctions.
func (r *searchQuery) auctionSearch() report.Search {
	s := r.listSearch()
	s.Outcome = r.text("outcome")
	if text := r.text("after"); text != "" {
		id, ok := market.ParseAuctionID(text)
		if s.After = id; !ok {
			r.fault("after", errcode.FieldInvalidFormat, "next of the page before")
		}
	}
	return s
}

// searchLeads lists leads: GET leads.
func (a *Admin) searchLeads(ctx *fasthttp.RequestCtx, from *report.Report) {
	r := searchQuery{query: ctx.QueryArgs()}
	s := r.leadSearch()
	if len(r.faults) > 0 {
		a.fail(ctx, httperror.InvalidPayload, r.faults...)
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

// searchAuctions lists auctions: GET auctions.
func (a *Admin) searchAuctions(ctx *fasthttp.RequestCtx, from *report.Report) {
	r := searchQuery{query: ctx.QueryArgs()}
	s := r.auctionSearch()
	if len(r.faults) > 0 {
		a.fail(ctx, httperror.InvalidPayload, r.faults...)
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

// unmatched counts unsold leads by reason: GET unmatched. The default period is the last
// day. Counts are per hour, so all hours that overlap the period count.
func (a *Admin) unmatched(ctx *fasthttp.RequestCtx, from *report.Report) {
	r := searchQuery{query: ctx.QueryArgs()}
	s := r.period()
	if len(r.faults) > 0 {
		a.fail(ctx, httperror.InvalidPayload, r.faults...)
		return
	}
	if s.To == 0 {
		s.To = time.Now().UnixNano()
	}
	if s.From == 0 {
		s.From = s.To - int64(24*time.Hour)
	}
	why, err := from.Unmatched(context.Background(), s)
	if err != nil {
		a.failReport(ctx, err)
		return
	}
	body := strconv.AppendInt([]byte(`{"leads":`), why.Leads, 10)
	body = strconv.AppendInt(append(body, `,"unsold":`...), why.Unsold, 10)
	body = appendTallies(body, "reasons", "reason", "leads", why.Reasons)
	body = appendTallies(body, "outcomes", "outcome", "bids", why.Outcomes)
	body = appendTallies(body, "campaigns", "campaign", "leads", why.Campaigns)
	body = appendTallies(body, "buyers", "outcome", "bids", why.Buyers)
	ctx.SetContentType(httperror.TypeJSON)
	ctx.SetBody(append(body, "}\n"...))
}

func appendTallies(body []byte, list, of, count string, tallies []report.Tally) []byte {
	body = append(append(append(body, `,"`...), list...), `":[`...)
	for i, t := range tallies {
		body = append(comma(body, i), '{')
		if t.Buyer != "" {
			body = append(escape.AppendJSONString(append(body, `"buyer":`...), []byte(t.Buyer)), ',')
		}
		body = escape.AppendJSONString(append(append(append(body, '"'), of...), `":`...), []byte(t.Name))
		body = append(append(append(body, `,"`...), count...), `":`...)
		body = append(strconv.AppendInt(body, t.N, 10), '}')
	}
	return append(body, ']')
}

// foundBytes is enough for most results.
const foundBytes = 400

// comma appends the separator of list elements.
func comma(body []byte, i int) []byte {
	if i > 0 {
		return append(body, ',')
	}
	return body
}

// answerFound ends a list with its position: how far the search got and where the next page
// starts.
func answerFound(ctx *fasthttp.RequestCtx, body []byte, page *report.Page, next func([]byte) []byte) {
	body = append(body, `],"next":`...)
	if page.Next == ([16]byte{}) {
		body = append(body, "null"...)
	} else {
		body = append(next(append(body, '"')), '"')
	}
	body = strconv.AppendBool(append(body, `,"complete":`...), page.Complete)
	body = append(body, `,"searched_from":`...)
	if page.Searched <= 0 {
		body = append(body, "null"...)
	} else {
		body = wire.AppendInstant(body, page.Searched)
	}
	ctx.SetContentType(httperror.TypeJSON)
	ctx.SetBody(append(body, "}\n"...))
}

func appendFoundLead(body []byte, l *report.FoundLead) []byte {
	body = l.ID.AppendTo(append(body, `{"id":"`...))
	body = wire.AppendInstant(append(body, `","at":`...), l.At)
	body = wire.AppendText(append(body, `,"campaign":`...), l.Campaign)
	body = wire.AppendText(append(body, `,"supplier":`...), l.Supplier)
	body = wire.AppendText(append(body, `,"buyer":`...), l.Buyer)
	body = append(append(body, `,"status":"`...), l.Status.String()...)
	body = append(append(body, `","delivery":"`...), l.Delivery.String()...)
	body = wire.AppendText(append(body, `","reason":`...), l.Reason.String())
	body = appendPaid(append(body, `,"price":`...), l.Price, l.Currency)
	body = appendPaid(append(body, `,"payout":`...), l.Payout, l.Currency)
	body = wire.AppendText(append(body, `,"currency":`...), l.Currency)
	body = append(body, `,"auction":`...)
	if l.Auction.IsZero() {
		body = append(body, "null"...)
	} else {
		body = append(l.Auction.AppendTo(append(body, '"')), '"')
	}
	body = wire.AppendText(append(body, `,"source":`...), l.Source)
	body = wire.AppendText(append(body, `,"state":`...), l.State)
	body = strconv.AppendBool(append(body, `,"test":`...), l.Test)
	body = strconv.AppendInt(append(body, `,"posts":`...), int64(l.Posts), 10)
	if l.Erased {
		body = append(body, `,"erased":true`...)
	}
	return append(body, '}')
}

// appendPaid appends an amount, or null without a currency.
func appendPaid(body []byte, amount market.Money, currency string) []byte {
	if currency == "" {
		return append(body, "null"...)
	}
	return amount.AppendJSON(body)
}

func appendFoundAuction(body []byte, a *report.FoundAuction) []byte {
	body = a.ID.AppendTo(append(body, `{"id":"`...))
	body = wire.AppendInstant(append(body, `","at":`...), a.At)
	body = append(body, `,"lead":`...)
	if a.Lead.IsZero() {
		body = append(body, "null"...)
	} else {
		body = append(a.Lead.AppendTo(append(body, '"')), '"')
	}
	body = wire.AppendText(append(body, `,"campaign":`...), a.Campaign)
	body = wire.AppendText(append(body, `,"supplier":`...), a.Supplier)
	body = strconv.AppendInt(append(body, `,"asked":`...), int64(a.Asked), 10)
	body = wire.AppendText(append(body, `,"reason":`...), a.Reason.String())
	body = wire.AppendText(append(body, `,"winner":`...), a.Winner)
	body = appendPaid(append(body, `,"amount":`...), a.Amount, a.Currency)
	body = wire.AppendText(append(body, `,"currency":`...), a.Currency)
	return append(strconv.AppendBool(append(body, `,"test":`...), a.Test), '}')
}
