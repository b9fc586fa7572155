package admin

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/report"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// ReportProvider gives access to the report on leads and revenue. It returns nil if the configuration
// disables the report.
type ReportProvider interface {
	Report() *report.Report
}

// maxReports is the number of report queries that may run at the same time.
const maxReports = 2

var (
	errTooManyReports = httperror.New(503, errcode.Unavailable, "Too many reports are being read. Send this request again after the time in Retry-After.")
	errNoReport       = httperror.New(404, errcode.NotFound, "This exchange keeps no report. Set report.keep in its configuration and restart it.")
)

// reportHandler returns the handler of GET report. It sends the rows while it reads them, so
// that a large report needs little memory.
func (a *Admin) reportHandler() fasthttp.RequestHandler {
	places := make(chan struct{}, maxReports)
	return a.withCurrentReport(func(ctx *fasthttp.RequestCtx, source *report.Report, _ bool) (answer any, err error) {
		q, form, err := readReportQuery(ctx, time.Unix(0, a.exchange.Now()), a.timeZone())
		if err != nil {
			return nil, err
		}
		select {
		case places <- struct{}{}:
		default:
			return nil, errTooManyReports
		}
		rows, err := source.Ask(context.Background(), *q)
		var first *report.Row
		if err == nil {
			if first, err = rows.Next(); err != nil && !errors.Is(err, io.EOF) {
				rows.Close()
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			<-places
			return nil, a.apiErrorOfReport(err)
		}
		of := &reportRowEncoder{answer: rows, form: form(&rows.Question), first: first}
		body := newStreamedBody(ctx.Conn(), of.form.ContentType(), of, a.logger)
		body.buf = of.form.Begin(body.buf)
		body.release = func() { <-places }
		for name, value := range map[string]string{
			"Entry": strconv.FormatUint(rows.Seq, 10), "At": payload.FormatTimeToSeconds(rows.At), "From": payload.FormatTimeToSeconds(rows.From), "To": payload.FormatTimeToSeconds(rows.To),
		} {
			ctx.Response.Header.Set("X-Report-"+name, value)
		}
		return body, nil
	})
}

// reportRowEncoder encodes the rows of a report one after the other for a streamed answer. first is
// already read: an error such as a too large query shows before the first row, when the answer
// can still be an error.
type reportRowEncoder struct {
	answer *report.RowIterator
	form   report.RowFormat
	first  *report.Row
}

func (l *reportRowEncoder) appendNextRows(dst []byte) ([]byte, error) {
	row, err := l.first, error(nil)
	if l.first = nil; row == nil {
		row, err = l.answer.Next()
	}
	switch {
	case errors.Is(err, io.EOF):
		dst, failed := l.form.End(dst)
		return dst, cmp.Or(failed, err)
	case err != nil:
		return dst, err
	}
	return l.form.Row(dst, row), nil
}

func (l *reportRowEncoder) Close() { l.answer.Close() }

// withReport is withEngine for a handler that also needs the report. If the configuration disables
// the report, the answer is a 404.
func (a *Admin) withReport(h func(ctx *fasthttp.RequestCtx, source *report.Report) (answer any, err error)) fasthttp.RequestHandler {
	return a.withEngine(func(ctx *fasthttp.RequestCtx, _ *engine.Engine) (answer any, err error) {
		from := a.exchange.Report()
		if from == nil {
			return nil, errNoReport
		}
		return h(ctx, from)
	})
}

// withCurrentReport is withReport for a handler of a GET that reads the report. It lets the report read
// the newest log entries first, if the requested time includes the present. hasNewest is false if the
// report still lacks some. A further page does not wait, and hasNewest is true for it.
func (a *Admin) withCurrentReport(h func(ctx *fasthttp.RequestCtx, source *report.Report, hasNewest bool) (answer any, err error)) fasthttp.RequestHandler {
	return a.withReport(func(ctx *fasthttp.RequestCtx, source *report.Report) (answer any, err error) {
		query := ctx.QueryArgs()
		if !isKnownConsistency(query) {
			return nil, payload.NewInvalidFieldError("consistency", errcode.FieldNotAllowedValue, consistencyLatest+" or "+consistencyStale)
		}
		if query.Has("after") { // a further page has older results
			return h(ctx, source, true)
		}
		return h(ctx, source, source.WaitBrieflyForNewestEntries(context.Background(), a.requestedPeriodEndOrZero(query)))
	})
}

// requestedPeriodEndOrZero returns the end of the time that a query requests; zero: the present. It
// ignores invalid parameters, which the handler rejects.
func (a *Admin) requestedPeriodEndOrZero(query *fasthttp.Args) (untilNanos int64) {
	zone := a.timeZone()
	if requested, err := time.LoadLocation(string(query.Peek("zone"))); err == nil && query.Has("zone") {
		zone = requested
	}
	if period, ok := payload.NamedPeriod(string(query.Peek("period")), time.Unix(0, a.exchange.Now()), zone); ok {
		return period.To
	}
	untilNanos, _ = payload.ParseDayOrTime(string(query.Peek("to")), zone)
	return untilNanos
}

// apiErrorOfReport returns the API's error for an error of the report.
func (a *Admin) apiErrorOfReport(err error) error {
	var wrong *report.InvalidQuestionError
	var behind *report.NotFollowedYetError
	switch {
	case errors.As(err, &wrong):
		return payload.NewInvalidFieldError(wrong.Field, errcode.FieldOutOfRange, wrong.Expected)
	case errors.As(err, &behind):
		return httperror.New(503, errcode.Unavailable, "The report cannot answer yet: "+behind.Error()+". Ask again after the time in Retry-After.")
	}
	a.logger.Error("the report cannot be read; if its file is damaged, the exchange rebuilds it", "error", err)
	return httperror.New(503, errcode.Unavailable, "The report cannot be read at present. Ask again after the time in Retry-After.")
}

// startReportRebuild starts to build the report again from the log in the background, and answers
// 202.
func (a *Admin) startReportRebuild(ctx *fasthttp.RequestCtx, source *report.Report) (answer any, err error) {
	source.RequestRebuild()
	ctx.SetStatusCode(fasthttp.StatusAccepted)
	return nil, nil
}

// readReportQuery parses the query parameters of GET report. It returns the question, a
// function that returns the output format, and a field error. Without times the period is the
// current month in the requested zone, as far as the report goes back. Without a zone, that is
// defaultZone.
func readReportQuery(ctx *fasthttp.RequestCtx, now time.Time, defaultZone *time.Location) (question *report.Question, newFormat func(*report.Question) report.RowFormat, err error) {
	query := ctx.QueryArgs()
	q := &report.Question{Only: map[report.Dimension]string{}, Zone: defaultZone, Totals: query.GetBool("totals")}
	if text := string(query.Peek("totals")); !slices.Contains([]string{"", "0", "1", "false", "true"}, text) {
		return nil, nil, payload.NewInvalidFieldError("totals", errcode.FieldNotAllowedValue, "true or false")
	}
	for name := range strings.SplitSeq(string(query.Peek("by")), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		d, ok := report.ParseDimension(name)
		if !ok {
			return nil, nil, payload.NewInvalidFieldError("by", errcode.FieldNotAllowedValue, "some of "+report.DimensionNames()+", with commas between them")
		}
		q.By = append(q.By, d)
	}
	for _, d := range []report.Dimension{report.BySupplier, report.ByBuyer, report.ByCampaign, report.BySource, report.ByState, report.ByReason} {
		if query.Has(d.String()) {
			q.Only[d] = string(query.Peek(d.String()))
		}
	}
	for name := range strings.SplitSeq(string(query.Peek("columns")), ",") {
		if name = strings.TrimSpace(name); name != "" {
			q.Columns = append(q.Columns, name)
		}
	}
	if name := string(query.Peek("zone")); name != "" {
		zone, err := time.LoadLocation(name)
		if err != nil || name == "Local" {
			return nil, nil, payload.NewInvalidFieldError("zone", errcode.FieldNotAllowedValue, "a time zone such as America/New_York or Asia/Kolkata")
		}
		q.Zone = zone
	}
	if wrong := readReportPeriod(query, q, now); wrong != nil {
		return nil, nil, wrong
	}
	form, ok := parseOutputFormat(string(query.Peek("format")), string(ctx.Request.Header.Peek("Accept")))
	switch {
	case ok && form == formCSV:
		return q, report.NewCSV, nil
	case ok && form == formParquet:
		return q, report.NewParquet, nil
	case ok && (form == formNDJSON || !query.Has("format")):
		return q, report.NewNDJSON, nil
	}
	return nil, nil, payload.NewInvalidFieldError("format", errcode.FieldNotAllowedValue, "ndjson, csv or parquet")
}

// readReportPeriod parses the period of a report into q: its name in period, or its ends in from and to.
func readReportPeriod(query *fasthttp.Args, q *report.Question, now time.Time) error {
	name := string(query.Peek("period"))
	if name == "" {
		q.Since = !query.Has("from")
		month, _ := payload.NamedPeriod("this_month", now, q.Zone)
		q.From, q.To = month.From, month.To
	} else if err := readNamedPeriod(query, now, q.Zone, &q.From, &q.To); err != nil {
		return err
	} else {
		q.Since = true
	}
	for name, into := range map[string]*int64{"from": &q.From, "to": &q.To} {
		text := string(query.Peek(name))
		if text == "" {
			continue
		}
		at, ok := payload.ParseDayOrTime(text, q.Zone)
		if !ok {
			return payload.NewInvalidFieldError(name, errcode.FieldInvalidFormat, "a day (2026-11-30, its beginning in the zone) or a time (2026-11-30T12:00:00Z)")
		}
		*into = at
	}
	return nil
}

// readNamedPeriod parses the parameter period, which excludes from and to. Without it, the ends
// stay unchanged.
func readNamedPeriod(query *fasthttp.Args, now time.Time, zone *time.Location, from, to *int64) error {
	name := string(query.Peek("period"))
	if name == "" {
		return nil
	}
	p, known := payload.NamedPeriod(name, now, zone)
	if !known || query.Has("from") || query.Has("to") {
		return payload.NewInvalidFieldError("period", errcode.FieldNotAllowedValue, "one of "+payload.PeriodNames+", without from and to")
	}
	*from, *to = p.From, p.To
	return nil
}

// timeZone returns the zone in which days begin in reports and in periods of requests.
func (a *Admin) timeZone() *time.Location {
	s := a.exchange.ProcessStatus()
	return s.zone()
}
