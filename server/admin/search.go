package admin

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/report"
	"pingpost/server/admin/export"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// Limits of a page of results, and of concurrent searches.
const (
	defaultFound = 50
	maxFound     = 500

	maxSearches = 2 // concurrent searches; others wait for searchWaits
	searchWaits = time.Second
)

var errTooManySearches = httperror.New(503, errcode.Unavailable, "Too many searches are running. Send this request again after the time in Retry-After.")

// withReportAndSearchSlot returns a handler that calls h with the report. At most maxSearches such
// requests run at the same time. Others wait for up to searchWaits and then get a 503.
func (a *Admin) withReportAndSearchSlot(h func(r *searchParameterParser, from *report.Report) (answer any, err error)) fasthttp.RequestHandler {
	return a.withCurrentReport(func(ctx *fasthttp.RequestCtx, from *report.Report, hasNewest bool) (answer any, err error) {
		late := time.NewTimer(searchWaits)
		defer late.Stop()
		select {
		case a.searches <- struct{}{}:
			defer func() { <-a.searches }()
			r := a.newSearchParameterParser(ctx)
			r.hasNewest = hasNewest
			answer, err = h(r, from)
		case <-late.C:
			err = errTooManySearches
		}
		return answer, err
	})
}

// searchParameterParser parses the query parameters of a search. It collects an error for each
// invalid one.
type searchParameterParser struct {
	query     *fasthttp.Args
	now       time.Time      // of the exchange's clock, for named periods
	zone      *time.Location // of days
	hasNewest bool           // the report has the newest log entries
	faults    payload.FieldErrors
}

func (a *Admin) newSearchParameterParser(ctx *fasthttp.RequestCtx) *searchParameterParser {
	return &searchParameterParser{query: ctx.QueryArgs(), now: time.Unix(0, a.exchange.Now()), zone: a.timeZone()}
}

func (r *searchParameterParser) parameter(name string) string { return string(r.query.Peek(name)) }

// readCommonParameters parses the parameters that all searches have: campaign, supplier, buyer, and the
// times from and to or a named period.
func (r *searchParameterParser) readCommonParameters() (s report.LeadOrAuctionQuery) {
	s.Campaign, s.Supplier, s.Buyer = r.parameter("campaign"), r.parameter("supplier"), r.parameter("buyer")
	s.From, s.To = r.readTimeNanos("from"), r.readTimeNanos("to")
	var invalid *payload.DetailedError
	if err := readNamedPeriod(r.query, r.now, r.zone, &s.From, &s.To); errors.As(err, &invalid) {
		r.faults = append(r.faults, invalid.Fields...)
	}
	r.faults.AddIf(s.From != 0 && s.To != 0 && s.From >= s.To, "to", errcode.FieldOutOfRange, "a time after from; the search ends before it")
	return s
}

// readCommonLimitAndTestParameters parses the parameters of all searches that list results: those of
// readCommonParameters, limit and test.
func (r *searchParameterParser) readCommonLimitAndTestParameters() report.LeadOrAuctionQuery {
	s := r.readCommonParameters()
	s.Limit = r.readLimit(defaultFound, maxFound)
	switch text := r.parameter("test"); text {
	case "":
	case "true", "1", "false", "0":
		test := text == "true" || text == "1"
		s.Test = &test
	default:
		r.faults.AddIf(true, "test", errcode.FieldNotAllowedValue, "true or false")
	}
	return s
}

func (r *searchParameterParser) readLimit(defaultValue, maximum int) int {
	text := r.parameter("limit")
	if text == "" {
		return defaultValue
	}
	n, err := strconv.Atoi(text)
	r.faults.AddIf(err != nil || n < 1 || n > maximum, "limit", errcode.FieldOutOfRange, "1 to "+strconv.Itoa(maximum))
	return n
}

// readAfterCursor parses the parameter after: the id of the last result of the page before.
func readAfterCursor[T any](r *searchParameterParser, parse func(string) (T, bool), expected string) (after T) {
	if text := r.parameter("after"); text != "" {
		var ok bool
		after, ok = parse(text)
		r.faults.AddIf(!ok, "after", errcode.FieldInvalidFormat, expected)
	}
	return after
}

// expectedTime says which times the parameters from and to accept.
const expectedTime = "a day (2026-11-30, its beginning in the time zone of the exchange) or a time (2026-11-30T12:00:00Z)"

func (r *searchParameterParser) readTimeNanos(parameterName string) int64 {
	text := r.parameter(parameterName)
	if text == "" {
		return 0
	}
	at, ok := payload.ParseDayOrTime(text, r.zone)
	r.faults.AddIf(!ok, parameterName, errcode.FieldInvalidFormat, expectedTime)
	return at
}

// maxExports is the number of exports of leads that may run at the same time.
const maxExports = 2

var errTooManyExports = httperror.New(503, errcode.Unavailable, "Too many exports are being read. Send this request again after the time in Retry-After.")

// leadExportHandler returns the handler of GET leads/export: all results of a search for leads as a
// file. It sends the rows while it reads them.
func (a *Admin) leadExportHandler() fasthttp.RequestHandler {
	places := make(chan struct{}, maxExports)
	return a.withCurrentReport(func(ctx *fasthttp.RequestCtx, from *report.Report, _ bool) (answer any, err error) {
		r := a.newSearchParameterParser(ctx)
		s := r.readLeadSearch()
		if now := a.exchange.Now(); s.To == 0 || s.To > now {
			s.To = now // the export ends although leads arrive
		}
		form, ok := parseOutputFormat(r.parameter("format"), string(ctx.Request.Header.Peek("Accept")))
		if !ok || form == formJSON && r.parameter("format") != "" {
			r.faults.AddIf(true, "format", errcode.FieldNotAllowedValue, "ndjson, csv or parquet")
		}
		if len(r.faults) > 0 {
			return nil, payload.NewInvalidFieldsError(r.faults)
		}
		select {
		case places <- struct{}{}:
		default:
			return nil, errTooManyExports
		}
		rows, err := export.NewLeadExport(from, s, exportFormats[form], r.parameter("columns"))
		if err != nil {
			<-places
			return nil, a.apiErrorOfReport(err)
		}
		body := newStreamedBody(ctx.Conn(), rows.ContentType(), leadExportRows{rows}, a.logger)
		body.release = func() { <-places }
		ctx.Response.Header.Set("Content-Disposition", `attachment; filename="leads.`+string(exportFormats[form])+`"`)
		return body, nil
	})
}

// exportFormats maps the formats of the admin API to those of exports. JSON is what a client gets
// that does not choose.
var exportFormats = map[outputFormat]export.Format{formJSON: export.NDJSON, formNDJSON: export.NDJSON, formCSV: export.CSV, formParquet: export.Parquet}

// leadExportRows makes an export the rows of a streamed answer.
type leadExportRows struct{ *export.LeadExport }

func (r leadExportRows) appendNextRows(dst []byte) ([]byte, error) { return r.AppendNextRow(dst) }

// readLeadSearch parses all parameters of GET leads.
func (r *searchParameterParser) readLeadSearch() report.LeadOrAuctionQuery {
	s := r.readCommonLimitAndTestParameters()
	s.Status, s.Reason, s.State, s.Source = r.parameter("status"), r.parameter("reason"), r.parameter("state"), r.parameter("source")
	s.After = readAfterCursor(r, market.ParseLeadID, "next of the page before")
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
		r.faults.AddIf(true, "q", errcode.FieldInvalidFormat, "the id of a lead (lead_…), an auction (auc_…) or a ping (ping_…)")
	}
	return s
}

// readAuctionSearch parses all parameters of GET auctions.
func (r *searchParameterParser) readAuctionSearch() report.LeadOrAuctionQuery {
	s := r.readCommonLimitAndTestParameters()
	s.Outcome = r.parameter("outcome")
	s.After = readAfterCursor(r, market.ParseAuctionID, "next of the page before")
	return s
}

// searchLeads answers GET leads with one page of the leads that match the query.
func (a *Admin) searchLeads(r *searchParameterParser, from *report.Report) (answer any, err error) {
	s := r.readLeadSearch()
	if len(r.faults) > 0 {
		return nil, payload.NewInvalidFieldsError(r.faults)
	}
	found, page, err := from.SearchLeads(context.Background(), s)
	if err != nil {
		return nil, a.apiErrorOfReport(err)
	}
	return struct {
		Leads []foundLeadJSON `json:"leads"`
		searchContinuation
	}{payload.ConvertAll(found, newFoundLeadJSON), r.newContinuation(&page, market.LeadID(page.Next).String())}, nil
}

// searchAuctions answers GET auctions with one page of the auctions that match the query.
func (a *Admin) searchAuctions(r *searchParameterParser, from *report.Report) (answer any, err error) {
	s := r.readAuctionSearch()
	if len(r.faults) > 0 {
		return nil, payload.NewInvalidFieldsError(r.faults)
	}
	found, page, err := from.SearchAuctions(context.Background(), s)
	if err != nil {
		return nil, a.apiErrorOfReport(err)
	}
	return struct {
		Auctions []auctionSearchResult `json:"auctions"`
		searchContinuation
	}{payload.ConvertAll(found, newAuctionSearchResult), r.newContinuation(&page, market.AuctionID(page.Next).String())}, nil
}

// getUnsoldSummary answers GET unmatched with the number of leads. It also counts the unsold ones by
// reason and by campaign, and unsuccessful pings and posts by outcome and by buyer. Without times the
// period is the last 24 hours. The counts are per hour, so every hour that overlaps the period counts
// completely.
func (a *Admin) getUnsoldSummary(r *searchParameterParser, from *report.Report) (answer any, err error) {
	s := r.readCommonParameters()
	if len(r.faults) > 0 {
		return nil, payload.NewInvalidFieldsError(r.faults)
	}
	if s.To == 0 {
		s.To = a.exchange.Now()
	}
	if s.From == 0 {
		s.From = s.To - int64(24*time.Hour)
	}
	why, err := from.SummarizeUnsold(context.Background(), s)
	if err != nil {
		return nil, a.apiErrorOfReport(err)
	}
	return struct {
		Leads     int64           `json:"leads"`
		Unsold    int64           `json:"unsold"`
		Reasons   []reasonTally   `json:"reasons"`
		Outcomes  []bidTally      `json:"outcomes"`
		Campaigns []campaignTally `json:"campaigns"`
		Buyers    []bidTally      `json:"buyers"`
	}{
		why.Leads, why.Unsold,
		payload.ConvertAll(why.Reasons, func(t *report.NamedCount) reasonTally { return reasonTally{t.Name, t.N} }),
		payload.ConvertAll(why.Outcomes, newBidTally),
		payload.ConvertAll(why.Campaigns, func(t *report.NamedCount) campaignTally { return campaignTally{t.Name, t.N} }),
		payload.ConvertAll(why.Buyers, newBidTally),
	}, nil
}

type (
	reasonTally struct {
		Reason string `json:"reason"`
		Leads  int64  `json:"leads"`
	}
	campaignTally struct {
		Campaign string `json:"campaign"`
		Leads    int64  `json:"leads"`
	}
	bidTally struct {
		Buyer   string `json:"buyer,omitempty"` // empty: of all buyers
		Outcome string `json:"outcome"`
		Bids    int64  `json:"bids"`
	}
)

func newBidTally(t *report.NamedCount) bidTally { return bidTally{t.Buyer, t.Name, t.N} }

// searchContinuation is the end of a page of search results: how far the search got, and the parameter
// after of the next page.
type searchContinuation struct {
	Next         *string `json:"next"` // null: last page
	Complete     bool    `json:"complete"`
	SearchedFrom *string `json:"searched_from"`
}

func (r *searchParameterParser) newContinuation(page *report.SearchProgress, next string) (end searchContinuation) {
	end.Complete = page.Complete && r.hasNewest
	if page.Next != ([16]byte{}) {
		end.Next = &next
	}
	if page.Searched > 0 {
		end.SearchedFrom = payload.NullIfEmpty(payload.FormatTimeWithNanos(page.Searched))
	}
	return end
}

// foundLeadJSON is a lead in the results of GET leads.
type foundLeadJSON struct {
	ID       string        `json:"id"`
	At       string        `json:"at"`
	Campaign *string       `json:"campaign"`
	Supplier *string       `json:"supplier"`
	Buyer    *string       `json:"buyer"`
	Status   string        `json:"status"`
	Delivery string        `json:"delivery"`
	Reason   *string       `json:"reason"`
	Price    *market.Money `json:"price"`
	Payout   *market.Money `json:"payout"`
	Currency *string       `json:"currency"`
	Auction  *string       `json:"auction"`
	Source   *string       `json:"source"`
	State    *string       `json:"state"`
	Test     bool          `json:"test"`
	Posts    int64         `json:"posts"`
	Erased   bool          `json:"erased,omitempty"`
}

func newFoundLeadJSON(l *report.FoundLead) foundLeadJSON {
	row := foundLeadJSON{
		ID: l.ID.String(), At: payload.FormatTimeWithNanos(l.At), Campaign: payload.NullIfEmpty(l.Campaign), Supplier: payload.NullIfEmpty(l.Supplier), Buyer: payload.NullIfEmpty(l.Buyer),
		Status: l.Status.String(), Delivery: l.Delivery.String(), Reason: payload.NullIfEmpty(l.Reason.String()),
		Price: amountOrNull(l.Price, l.Currency), Payout: amountOrNull(l.Payout, l.Currency), Currency: payload.NullIfEmpty(l.Currency),
		Source: payload.NullIfEmpty(l.Source), State: payload.NullIfEmpty(l.State), Test: l.Test, Posts: int64(l.Posts), Erased: l.Erased,
	}
	if !l.Auction.IsZero() {
		row.Auction = payload.NullIfEmpty(l.Auction.String())
	}
	return row
}

// amountOrNull returns the amount, or nil if it has no currency, which means that there is no
// amount. nil becomes null in JSON.
func amountOrNull(amount market.Money, currency string) *market.Money {
	if currency == "" {
		return nil
	}
	return &amount
}

// auctionSearchResult is an auction in the results of GET auctions.
type auctionSearchResult struct {
	ID       string        `json:"id"`
	At       string        `json:"at"`
	Lead     *string       `json:"lead"`
	Campaign *string       `json:"campaign"`
	Supplier *string       `json:"supplier"`
	Asked    int64         `json:"asked"`
	Reason   *string       `json:"reason"`
	Winner   *string       `json:"winner"`
	Amount   *market.Money `json:"amount"`
	Currency *string       `json:"currency"`
	SoldTo   *string       `json:"sold_to"`
	Price    *market.Money `json:"price"`
	Status   *string       `json:"status"`   // of the lead; null: no lead
	Delivery *string       `json:"delivery"` // of the lead; null: no lead
	Test     bool          `json:"test"`
}

func newAuctionSearchResult(a *report.AuctionSearchResult) auctionSearchResult {
	row := auctionSearchResult{
		ID: a.ID.String(), At: payload.FormatTimeWithNanos(a.At), Campaign: payload.NullIfEmpty(a.Campaign), Supplier: payload.NullIfEmpty(a.Supplier),
		Asked: int64(a.Asked), Reason: payload.NullIfEmpty(a.Reason.String()), Winner: payload.NullIfEmpty(a.Winner),
		Amount: amountOrNull(a.Amount, a.Currency), Currency: payload.NullIfEmpty(cmp.Or(a.Currency, a.Sale.Currency)), Test: a.Test,
		SoldTo: payload.NullIfEmpty(a.Sale.Buyer), Price: amountOrNull(a.Sale.Price, a.Sale.Currency),
	}
	if a.Sale != (report.AuctionSale{}) {
		row.Status, row.Delivery = payload.NullIfEmpty(a.Sale.Status.String()), payload.NullIfEmpty(a.Sale.Delivery.String())
	}
	if !a.Lead.IsZero() {
		row.Lead = payload.NullIfEmpty(a.Lead.String())
	}
	return row
}
