package server

import (
	"errors"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report/columnar"
)

// Bookkeeper adds up from the log what became of someone's money. Where From or
// To is zero it is the running month's beginning or end. The error is a
// *engine.PastHistory where the log does not go back so far.
type Bookkeeper interface {
	Statement(party engine.Party, period engine.Period) (*engine.Statement, error)
	Entries(s *engine.Statement) (Entries, error)
}

// Entries are a statement's, one after the other. What Next returns is good until
// the call after it; io.EOF follows the last.
type Entries interface {
	Next() (*engine.Entry, error)
	Close()
}

// maxStatements is how many are read at once: each reads the log's files from its
// period on.
const maxStatements = 2

var faultStatements = fault{503, errcode.Unavailable, "Other statements are being read from the log. Ask again after the time in Retry-After."}

// statements answers with a party's statement: a sum, then the entries, which are
// sent as they are read.
func (a *Admin) statements() fasthttp.RequestHandler {
	places := make(chan struct{}, maxStatements)
	return func(ctx *fasthttp.RequestCtx) {
		e := a.engineOr503(ctx)
		if e == nil {
			return
		}
		ask, wrong := readStatementQuery(ctx, e)
		if wrong != nil {
			a.fail(ctx, faultPayload, *wrong)
			return
		}
		if ask.party.Ref == 0 {
			a.fail(ctx, fault{404, errcode.NotFound, "No supplier or buyer of this id was ever configured."})
			return
		}
		select {
		case places <- struct{}{}:
		default:
			a.fail(ctx, faultStatements)
			return
		}
		body, err := a.statement(ctx, e, ask)
		if err != nil {
			<-places
			a.failStatement(ctx, err)
			return
		}
		body.left = func() { <-places }
		body.answer(ctx, ask.form.contentType())
	}
}

func (a *Admin) statement(ctx *fasthttp.RequestCtx, e *engine.Engine, ask *statementQuery) (*streamedBody, error) {
	sum, err := a.operator.Statement(ask.party, ask.period)
	if err != nil {
		return nil, err
	}
	entries, err := a.operator.Entries(sum)
	if err != nil {
		return nil, err
	}
	words := statementWords{names: e.State(), id: ask.id, currency: accountCurrency(e.Catalog(), ask, sum)}
	return newStatementBody(ctx.Conn(), ask.form, words, sum, entries, a.logger), nil
}

func (a *Admin) failStatement(ctx *fasthttp.RequestCtx, err error) {
	var past *engine.PastHistory
	if errors.As(err, &past) {
		a.fail(ctx, faultPayload, market.FieldError{
			Field: "from", Code: errcode.FieldOutOfRange, Expected: "a time that the log goes back to: " + past.Error(),
		})
		return
	}
	a.failWith(ctx, err)
}

// statementQuery is whose statement is asked for, of when, and in which form.
type statementQuery struct {
	party  engine.Party
	id     string
	period engine.Period
	form   statementForm
}

func readStatementQuery(ctx *fasthttp.RequestCtx, e *engine.Engine) (*statementQuery, *market.FieldError) {
	query := ctx.QueryArgs()
	buyer, supplier := string(query.Peek("buyer")), string(query.Peek("supplier"))
	if (buyer == "") == (supplier == "") {
		return nil, &market.FieldError{Field: "buyer", Code: errcode.FieldMissingRequired, Expected: "the id of a buyer, or that of a supplier in supplier"}
	}
	ask := &statementQuery{party: engine.Party{Kind: event.NameBuyer}, id: buyer}
	if supplier != "" {
		ask.party.Kind, ask.id = event.NameSupplier, supplier
	}
	ask.party.Ref = e.State().RefOf(ask.party.Kind, ask.id)
	for name, into := range map[string]*int64{"from": &ask.period.From, "to": &ask.period.To} {
		text := string(query.Peek(name))
		if text == "" {
			continue
		}
		at, ok := parseInstant(text)
		if !ok {
			return nil, &market.FieldError{Field: name, Code: errcode.FieldInvalidFormat, Expected: "a day (2026-11-30, its beginning in UTC) or a time (2026-11-30T12:00:00Z)"}
		}
		*into = at
	}
	if ask.period.To != 0 && ask.period.From >= ask.period.To {
		return nil, &market.FieldError{Field: "to", Code: errcode.FieldOutOfRange, Expected: "a time after from; the statement ends before it"}
	}
	var ok bool
	if ask.form, ok = parseStatementForm(string(query.Peek("format")), string(ctx.Request.Header.Peek("Accept"))); !ok {
		return nil, &market.FieldError{Field: "format", Code: errcode.FieldNotAllowedValue, Expected: "json, ndjson, csv or parquet"}
	}
	return ask, nil
}

// parseInstant reads a day or a time, of this century or the last years of the one
// before.
func parseInstant(text string) (at int64, ok bool) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t, err = time.Parse(time.RFC3339Nano, text)
	}
	if err != nil || t.Year() <= 1970 || t.Year() >= 2200 {
		return 0, false
	}
	return t.UnixNano(), true
}

// accountCurrency is the one currency that a buyer with an account buys in: that of
// the campaigns it sits in, or of what it bought.
func accountCurrency(catalog *market.Catalog, ask *statementQuery, sum *engine.Statement) market.Currency {
	if !sum.Account {
		return market.Currency{}
	}
	for i := range sum.Totals {
		if t := &sum.Totals[i]; t.InAccount && t.Currency != (market.Currency{}) {
			return t.Currency
		}
	}
	for _, campaign := range catalog.Campaigns {
		for i := range campaign.Lineup {
			if string(campaign.Lineup[i].Buyer.ID) == ask.id {
				return campaign.Currency
			}
		}
	}
	return market.Currency{}
}

// statementForm is how a statement is written.
type statementForm uint8

const (
	formJSON    statementForm = iota // one document: the sum, then the entries
	formNDJSON                       // the entries, an object a line
	formCSV                          // the entries, below a line of names
	formParquet                      // the entries, as a Parquet file
)

func (f statementForm) contentType() string {
	return [...]string{typeJSON, "application/x-ndjson", "text/csv; charset=utf-8", columnar.ContentType}[f]
}

// parseStatementForm goes by the query's word, else by the first form that the
// Accept header names.
func parseStatementForm(word, accept string) (statementForm, bool) {
	switch word {
	case "json":
		return formJSON, true
	case "ndjson":
		return formNDJSON, true
	case "csv":
		return formCSV, true
	case "parquet":
		return formParquet, true
	case "":
	default:
		return 0, false
	}
	for kind := range strings.SplitSeq(accept, ",") {
		kind, _, _ = strings.Cut(kind, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "text/csv":
			return formCSV, true
		case "application/x-ndjson", "application/ndjson":
			return formNDJSON, true
		case columnar.ContentType:
			return formParquet, true
		case typeJSON:
			return formJSON, true
		}
	}
	return formJSON, true
}
