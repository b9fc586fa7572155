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
		from := a.requireReport(ctx)
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
			a.sendError(ctx, errTooManySearches)
		}
	}
}

// searchQuery parses a search and collects its field errors.
type searchQuery struct {
	query  *fasthttp.Args
	faults []market.FieldError
}

func (r *searchQuery) addError(field, code, expected string) {
	r.faults = append(r.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

func (r *searchQuery) parameter(name string) string { return string(r.query.Peek(name)) }

// readPeriod parses the filters and the period that all searches have.
func (r *searchQuery) readPeriod() (s report.Search) {
	s.Campaign, s.Supplier, s.Buyer = r.parameter("campaign"), r.parameter("supplier"), r.parameter("buyer")
	s.From, s.To = r.readTime("from"), r.readTime("to")
	if s.From != 0 && s.To != 0 && s.From >= s.To {
		r.addError("to", errcode.FieldOutOfRange, "a time after from; the search ends before it")
	}
	return s
}

// readListSearch parses the parameters of searches that list results.
func (r *searchQuery) readListSearch() report.Search {
	s := r.readPeriod()
	s.Limit = defaultFound
	if text := r.parameter("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if s.Limit = n; err != nil || n < 1 || n > maxFound {
			r.addError("limit", errcode.FieldOutOfRange, "1 to "+strconv.Itoa(maxFound))
		}
	}
	switch text := r.parameter("test"); text {
	case "":
	case "true", "1", "false", "0":
		test := text == "true" || text == "1"
		s.Test = &test
	default:
		r.addError("test", errcode.FieldNotAllowedValue, "true or false")
	}
	return s
}

func (r *searchQuery) readTime(name string) int64 {
	text := r.parameter(name)
	if text == "" {
		return 0
	}
	at, ok := parseInstant(text)
	if !ok {
		r.addError(name, errcode.FieldInvalidFormat, "a day (2026-11-30, its beginning in UTC) or a time (2026-11-30T12:00:00Z)")
	}
	return at
}

// readLeadSearch parses a search for leads.
func (r *searchQuery) readLeadSearch() report.Search {
	s := r.readListSearch()
	s.Status, s.Reason, s.State, s.Source = r.parameter("status"), r.parameter("reason"), r.parameter("state"), r.parameter("source")
	if text := r.parameter("after"); text != "" {
		id, ok := market.ParseLeadID(text)
		if s.After = id; !ok {
			r.addError("after", errcode.FieldInvalidFormat, "next of the page before")
		}
	}
	text := r.parameter("q")
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
		r.addError("q", errcode.FieldInvalidFormat, "the id of a lead (lead_…), an auction (auc_…) or a ping (ping_…)")
	}
	return s
}

// readAuctionSearch parses a search for auctions.
func (r *searchQuery) readAuctionSearch() report.Search {
	s := r.readListSearch()
	s.Outcome = r.parameter("outcome")
	if text := r.parameter("after"); text != "" {
		id, ok := market.ParseAuctionID(text)
		if s.After = id; !ok {
			r.addError("after", errcode.FieldInvalidFormat, "next of the page before")
		}
	}
	return s
}

// searchLeads lists leads: GET leads.
func (a *Admin) searchLeads(ctx *fasthttp.RequestCtx, from *report.Report) {
	r := searchQuery{query: ctx.QueryArgs()}
	s := r.readLeadSearch()
	if len(r.faults) > 0 {
		a.sendError(ctx, httperror.InvalidPayload, r.faults...)
		return
	}
	found, page, err := from.Leads(context.Background(), s)
	if err != nil {
		a.sendReportError(ctx, err)
		return
	}
	body := append(make([]byte, 0, 64+len(found)*foundBytes), `{"leads":[`...)
	for i := range found {
		body = appendFoundLead(appendComma(body, i), &found[i])
	}
	sendFound(ctx, body, &page, market.LeadID(page.Next).AppendTo)
}

// searchAuctions lists auctions: GET auctions.
func (a *Admin) searchAuctions(ctx *fasthttp.RequestCtx, from *report.Report) {
	r := searchQuery{query: ctx.QueryArgs()}
	s := r.readAuctionSearch()
	if len(r.faults) > 0 {
		a.sendError(ctx, httperror.InvalidPayload, r.faults...)
		return
	}
	found, page, err := from.Auctions(context.Background(), s)
	if err != nil {
		a.sendReportError(ctx, err)
		return
	}
	body := append(make([]byte, 0, 64+len(found)*foundBytes), `{"auctions":[`...)
	for i := range found {
		body = appendFoundAuction(appendComma(body, i), &found[i])
	}
	sendFound(ctx, body, &page, market.AuctionID(page.Next).AppendTo)
}

// sendUnmatched counts unsold leads by reason: GET unmatched. The default period is the last
// day. Counts are per hour, so all hours that overlap the period count.
func (a *Admin) sendUnmatched(ctx *fasthttp.RequestCtx, from *report.Report) {
	r := searchQuery{query: ctx.QueryArgs()}
	s := r.readPeriod()
	if len(r.faults) > 0 {
		a.sendError(ctx, httperror.InvalidPayload, r.faults...)
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
		a.sendReportError(ctx, err)
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
		body = append(appendComma(body, i), '{')
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

// appendComma appends the separator of list elements.
func appendComma(body []byte, i int) []byte {
	if i > 0 {
		return append(body, ',')
	}
	return body
}

// sendFound ends a list with its position: how far the search got and where the next page
// starts.
func sendFound(ctx *fasthttp.RequestCtx, body []byte, page *report.Page, next func([]byte) []byte) {
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
		body = wire.AppendTimeString(body, page.Searched)
	}
	ctx.SetContentType(httperror.TypeJSON)
	ctx.SetBody(append(body, "}\n"...))
}

func appendFoundLead(body []byte, l *report.FoundLead) []byte {
	body = l.ID.AppendTo(append(body, `{"id":"`...))
	body = wire.AppendTimeString(append(body, `","at":`...), l.At)
	body = wire.AppendTextOrNull(append(body, `,"campaign":`...), l.Campaign)
	body = wire.AppendTextOrNull(append(body, `,"supplier":`...), l.Supplier)
	body = wire.AppendTextOrNull(append(body, `,"buyer":`...), l.Buyer)
	body = append(append(body, `,"status":"`...), l.Status.String()...)
	body = append(append(body, `","delivery":"`...), l.Delivery.String()...)
	body = wire.AppendTextOrNull(append(body, `","reason":`...), l.Reason.String())
	body = appendAmount(append(body, `,"price":`...), l.Price, l.Currency)
	body = appendAmount(append(body, `,"payout":`...), l.Payout, l.Currency)
	body = wire.AppendTextOrNull(append(body, `,"currency":`...), l.Currency)
	body = append(body, `,"auction":`...)
	if l.Auction.IsZero() {
		body = append(body, "null"...)
	} else {
		body = append(l.Auction.AppendTo(append(body, '"')), '"')
	}
	body = wire.AppendTextOrNull(append(body, `,"source":`...), l.Source)
	body = wire.AppendTextOrNull(append(body, `,"state":`...), l.State)
	body = strconv.AppendBool(append(body, `,"test":`...), l.Test)
	body = strconv.AppendInt(append(body, `,"posts":`...), int64(l.Posts), 10)
	if l.Erased {
		body = append(body, `,"erased":true`...)
	}
	return append(body, '}')
}

// appendAmount appends an amount, or null without a currency.
func appendAmount(body []byte, amount market.Money, currency string) []byte {
	if currency == "" {
		return append(body, "null"...)
	}
	return amount.AppendJSON(body)
}

func appendFoundAuction(body []byte, a *report.FoundAuction) []byte {
	body = a.ID.AppendTo(append(body, `{"id":"`...))
	body = wire.AppendTimeString(append(body, `","at":`...), a.At)
	body = append(body, `,"lead":`...)
	if a.Lead.IsZero() {
		body = append(body, "null"...)
	} else {
		body = append(a.Lead.AppendTo(append(body, '"')), '"')
	}
	body = wire.AppendTextOrNull(append(body, `,"campaign":`...), a.Campaign)
	body = wire.AppendTextOrNull(append(body, `,"supplier":`...), a.Supplier)
	body = strconv.AppendInt(append(body, `,"asked":`...), int64(a.Asked), 10)
	body = wire.AppendTextOrNull(append(body, `,"reason":`...), a.Reason.String())
	body = wire.AppendTextOrNull(append(body, `,"winner":`...), a.Winner)
	body = appendAmount(append(body, `,"amount":`...), a.Amount, a.Currency)
	body = wire.AppendTextOrNull(append(body, `,"currency":`...), a.Currency)
	return append(strconv.AppendBool(append(body, `,"test":`...), a.Test), '}')
}
