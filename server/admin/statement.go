package admin

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/report/columnar"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// StatementSource computes account statements from the log. The exchange implements it. A zero From
// of the period means the beginning of To's month, or of the current month. A zero To means the end
// of the current month, or of From's month if that is later. The error is a
// *ledger.HistoryTooShortError if the log does not go back that far.
type StatementSource interface {
	Statement(party ledger.Party, period ledger.Period) (*ledger.Statement, error)
	Entries(s *ledger.Statement) (StatementEntryIterator, error)
}

// StatementEntryIterator iterates over the entries of a statement. The result of Next is valid
// until the next call. After the last entry the error is io.EOF.
type StatementEntryIterator interface {
	Next() (*ledger.Entry, error)
	Close()
}

// maxStatements is the number of statements that may be computed at the same time. Each reads
// the log from the beginning of its period.
const maxStatements = 2

var errTooManyStatements = httperror.New(503, errcode.Unavailable, "Too many statements are being read from the log. Send this request again after the time in Retry-After.")

// statementHandler returns the handler of GET statement. It sends the totals (only in the format
// JSON), and then the entries while it reads them from the log.
func (a *Admin) statementHandler() fasthttp.RequestHandler {
	places := make(chan struct{}, maxStatements)
	return a.withEngine(func(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
		ask, err := readStatementQuery(ctx, e, time.Unix(0, a.exchange.Now()), a.timeZone())
		if err != nil {
			return nil, err
		}
		if ask.party.Ref == 0 {
			return nil, errUnknownOwner
		}
		select {
		case places <- struct{}{}:
		default:
			return nil, errTooManyStatements
		}
		body, err := a.startStatementBody(ctx, e, ask)
		if err != nil {
			<-places
			return nil, err
		}
		body.release = func() { <-places }
		return body, nil
	})
}

func (a *Admin) startStatementBody(ctx *fasthttp.RequestCtx, e *engine.Engine, query *statementQuery) (*streamedBody, error) {
	sum, err := a.exchange.Statement(query.party, query.period)
	var past *ledger.HistoryTooShortError
	if errors.As(err, &past) {
		err = payload.NewInvalidFieldError("from", errcode.FieldOutOfRange, "a time that the log goes back to: "+past.Error())
	}
	if err != nil {
		return nil, err
	}
	entries, err := a.exchange.Entries(sum)
	if err != nil {
		return nil, err
	}
	words := statementContext{names: e.State(), id: query.id, currency: buyerAccountCurrencyOrZero(e.ActiveCatalogOrNil(), query, sum)}
	return newStatementBody(ctx.Conn(), query.form, words, sum, entries, a.logger), nil
}

// statementQuery has the parsed parameters of GET statement: the buyer or supplier, the period
// and the format.
type statementQuery struct {
	party  ledger.Party
	id     string
	period ledger.Period
	form   outputFormat
}

// readStatementQuery parses the parameters of GET statement. now is the time by the exchange's clock,
// for named periods. Days are those of the zone.
func readStatementQuery(ctx *fasthttp.RequestCtx, e *engine.Engine, now time.Time, zone *time.Location) (*statementQuery, error) {
	query := ctx.QueryArgs()
	buyer, supplier := string(query.Peek("buyer")), string(query.Peek("supplier"))
	if (buyer == "") == (supplier == "") {
		return nil, payload.NewInvalidFieldError("buyer", errcode.FieldMissingRequired, "the id of a buyer, or that of a supplier in supplier")
	}
	ask := &statementQuery{party: ledger.Party{Kind: event.ObjectBuyer}, id: buyer}
	if supplier != "" {
		ask.party.Kind, ask.id = event.ObjectSupplier, supplier
	}
	ask.party.Ref = e.State().RefOf(ask.party.Kind, ask.id)
	if err := readNamedPeriod(query, now, zone, &ask.period.From, &ask.period.To); err != nil {
		return nil, err
	}
	for name, into := range map[string]*int64{"from": &ask.period.From, "to": &ask.period.To} {
		text := string(query.Peek(name))
		if text == "" {
			continue
		}
		at, ok := payload.ParseDayOrTime(text, zone)
		if !ok {
			return nil, payload.NewInvalidFieldError(name, errcode.FieldInvalidFormat, expectedTime)
		}
		*into = at
	}
	if ask.period.To != 0 && ask.period.From >= ask.period.To {
		return nil, payload.NewInvalidFieldError("to", errcode.FieldOutOfRange, "a time after from; the statement ends before it")
	}
	var ok bool
	if ask.form, ok = parseOutputFormat(string(query.Peek("format")), string(ctx.Request.Header.Peek("Accept"))); !ok {
		return nil, payload.NewInvalidFieldError("format", errcode.FieldNotAllowedValue, "json, ndjson, csv or parquet")
	}
	return ask, nil
}

// buyerAccountCurrencyOrZero returns the currency of a buyer's account: that of its purchases in the
// statement or, without purchases, of the campaigns in which it buys. The result is empty if there is no
// account, neither a purchase nor a campaign, or campaigns in several currencies.
func buyerAccountCurrencyOrZero(catalog *market.Catalog, query *statementQuery, statement *ledger.Statement) market.Currency {
	if !statement.Account {
		return market.Currency{}
	}
	for i := range statement.Totals {
		if t := &statement.Totals[i]; t.InAccount && t.Currency != (market.Currency{}) {
			return t.Currency
		}
	}
	return catalog.CurrencyOfBuyerOrZero(market.BuyerID(query.id))
}

// outputFormat is the output format of a statement, a report or an export of leads.
type outputFormat uint8

const (
	formJSON    outputFormat = iota // one document: totals, then entries
	formNDJSON                      // entries, one object per line
	formCSV                         // entries below a header line
	formParquet                     // entries as a Parquet file
)

func (f outputFormat) contentType() string {
	return [...]string{httperror.TypeJSON, "application/x-ndjson", "text/csv; charset=utf-8", columnar.ContentType}[f]
}

// parseOutputFormat returns the format that the query parameter names. If parameter is
// empty, it returns the first known format in the Accept header, or JSON. It returns false for
// an unknown word.
func parseOutputFormat(parameter, acceptHeader string) (format outputFormat, ok bool) {
	switch parameter {
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
	for kind := range strings.SplitSeq(acceptHeader, ",") {
		kind, _, _ = strings.Cut(kind, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "text/csv":
			return formCSV, true
		case "application/x-ndjson", "application/ndjson":
			return formNDJSON, true
		case columnar.ContentType:
			return formParquet, true
		case httperror.TypeJSON:
			return formJSON, true
		}
	}
	return formJSON, true
}

// statementEntryEncoder encodes the entries of a statement one after the other for a streamed answer.
type statementEntryEncoder struct {
	writer  statementEncoder
	entries StatementEntryIterator
}

func (l *statementEntryEncoder) appendNextRows(dst []byte) ([]byte, error) {
	entry, err := l.entries.Next()
	switch {
	case errors.Is(err, io.EOF):
		dst, failed := l.writer.appendEnd(dst)
		return dst, cmp.Or(failed, err)
	case err != nil:
		return dst, err
	}
	return l.writer.appendEntry(dst, entry), nil
}

func (l *statementEntryEncoder) Close() { l.entries.Close() }

func newStatementBody(conn net.Conn, format outputFormat, entryContext statementContext, statement *ledger.Statement, entries StatementEntryIterator, logger *slog.Logger) *streamedBody {
	of := &statementEntryEncoder{entries: entries}
	switch format {
	case formCSV:
		of.writer = &csvStatementEncoder{statementContext: entryContext}
	case formParquet:
		of.writer = &parquetStatementEncoder{statementContext: entryContext}
	case formNDJSON:
		of.writer = &ndjsonStatementEncoder{statementContext: entryContext}
	default:
		of.writer = &jsonStatementEncoder{statementContext: entryContext}
	}
	b := newStreamedBody(conn, format.contentType(), of, logger)
	b.buf = of.writer.beginAndAppendAnyHead(b.buf, statement)
	return b
}
