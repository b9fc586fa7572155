package admin

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/report"
	"pingpost/server/httperror"
)

// Reporter gives access to the report on leads and revenue. It returns nil if the configuration
// disables the report.
type Reporter interface {
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
	return func(ctx *fasthttp.RequestCtx) {
		from := a.requireReport(ctx)
		if from == nil {
			return
		}
		q, form, wrong := readReportQuery(ctx, time.Now())
		if wrong != nil {
			a.sendError(ctx, httperror.InvalidPayload, *wrong)
			return
		}
		select {
		case places <- struct{}{}:
		default:
			a.sendError(ctx, errTooManyReports)
			return
		}
		answer, err := from.Ask(context.Background(), *q)
		var first *report.Row
		if err == nil {
			if first, err = answer.Next(); err != nil && !errors.Is(err, io.EOF) {
				answer.Close()
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			<-places
			a.sendReportError(ctx, err)
			return
		}
		of := &reportLines{answer: answer, form: form(&answer.Question), first: first}
		body := newStreamedBody(ctx.Conn(), of, a.logger)
		body.buf = of.form.Begin(body.buf)
		body.release = func() { <-places }
		for name, value := range map[string]string{
			"Entry": strconv.FormatUint(answer.Seq, 10), "At": formatTime(answer.At), "From": formatTime(answer.From), "To": formatTime(answer.To),
		} {
			ctx.Response.Header.Set("X-Report-"+name, value)
		}
		body.sendAnswer(ctx, of.form.ContentType())
	}
}

// formatTime formats a time in Unix nanoseconds as RFC 3339 in whole seconds, in UTC.
func formatTime(at int64) string { return time.Unix(0, at).UTC().Format(time.RFC3339) }

// reportLines encodes the rows of a report one after the other for a streamed answer. first is
// already read: an error such as a too large query shows before the first row, when the answer
// can still be an error.
type reportLines struct {
	answer *report.Answer
	form   report.Format
	first  *report.Row
}

func (l *reportLines) appendNextRow(dst []byte) ([]byte, error) {
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

func (l *reportLines) Close() { l.answer.Close() }

// requireReport returns the report. If the exchange is not ready or has no report, it answers
// with an error and returns nil.
func (a *Admin) requireReport(ctx *fasthttp.RequestCtx) *report.Report {
	if a.requireEngine(ctx) == nil {
		return nil
	}
	found := a.operator.Report()
	if found == nil {
		a.sendError(ctx, errNoReport)
	}
	return found
}

func (a *Admin) sendReportError(ctx *fasthttp.RequestCtx, err error) {
	var wrong *report.Fault
	var behind *report.Behind
	switch {
	case errors.As(err, &wrong):
		a.sendError(ctx, httperror.InvalidPayload, market.FieldError{Field: wrong.Field, Code: errcode.FieldOutOfRange, Expected: wrong.Expected})
	case errors.As(err, &behind):
		a.sendError(ctx, httperror.New(503, errcode.Unavailable, "The report cannot answer yet: "+behind.Error()+". Ask again after the time in Retry-After."))
	default:
		a.logger.Error("the report cannot be read; if its file is damaged, the exchange rebuilds it", "error", err)
		a.sendError(ctx, httperror.New(503, errcode.Unavailable, "The report cannot be read at present. Ask again after the time in Retry-After."))
	}
}

// rebuildReport starts to build the report again from the log in the background, and answers
// 202.
func (a *Admin) rebuildReport(ctx *fasthttp.RequestCtx) {
	if found := a.requireReport(ctx); found != nil {
		found.Rebuild()
		ctx.SetStatusCode(fasthttp.StatusAccepted)
	}
}

// readReportQuery parses the query parameters of GET report. It returns the question, a
// function that returns the output format, and a field error. Without times the period is the
// current month in the requested zone, as far as the report goes back.
func readReportQuery(ctx *fasthttp.RequestCtx, now time.Time) (*report.Question, func(*report.Question) report.Format, *market.FieldError) {
	query := ctx.QueryArgs()
	q := &report.Question{Only: map[report.Dimension]string{}, Zone: time.UTC}
	for name := range strings.SplitSeq(string(query.Peek("by")), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		d, ok := report.ParseDimension(name)
		if !ok {
			return nil, nil, &market.FieldError{Field: "by", Code: errcode.FieldNotAllowedValue, Expected: "some of " + report.DimensionNames() + ", with commas between them"}
		}
		q.By = append(q.By, d)
	}
	for _, d := range []report.Dimension{report.BySupplier, report.ByBuyer, report.ByCampaign, report.BySource, report.ByState, report.ByReason} {
		if query.Has(d.String()) {
			q.Only[d] = string(query.Peek(d.String()))
		}
	}
	if name := string(query.Peek("zone")); name != "" {
		zone, err := time.LoadLocation(name)
		if err != nil || name == "Local" {
			return nil, nil, &market.FieldError{Field: "zone", Code: errcode.FieldNotAllowedValue, Expected: "a time zone such as America/New_York or Asia/Kolkata"}
		}
		q.Zone = zone
	}
	if wrong := readReportTimes(query, q, now); wrong != nil {
		return nil, nil, wrong
	}
	form, ok := parseStatementFormat(string(query.Peek("format")), string(ctx.Request.Header.Peek("Accept")))
	switch {
	case ok && form == formCSV:
		return q, report.NewCSV, nil
	case ok && form == formParquet:
		return q, report.NewParquet, nil
	case ok && (form == formNDJSON || !query.Has("format")):
		return q, report.NewNDJSON, nil
	}
	return nil, nil, &market.FieldError{Field: "format", Code: errcode.FieldNotAllowedValue, Expected: "ndjson, csv or parquet"}
}

func readReportTimes(query *fasthttp.Args, q *report.Question, now time.Time) *market.FieldError {
	now = now.In(q.Zone)
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, q.Zone)
	q.From, q.To, q.Since = first.UnixNano(), first.AddDate(0, 1, 0).UnixNano(), !query.Has("from")
	for name, into := range map[string]*int64{"from": &q.From, "to": &q.To} {
		text := string(query.Peek(name))
		if text == "" {
			continue
		}
		at, ok := parseDayOrTime(text)
		if day, err := time.ParseInLocation(time.DateOnly, text, q.Zone); err == nil {
			at = day.UnixNano()
		}
		if !ok {
			return &market.FieldError{Field: name, Code: errcode.FieldInvalidFormat, Expected: "a day (2026-11-30, its beginning in the zone) or a time (2026-11-30T12:00:00Z)"}
		}
		*into = at
	}
	return nil
}
