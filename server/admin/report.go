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
	"pingpost/engine"
	"pingpost/report"
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
	return a.withReport(func(ctx *fasthttp.RequestCtx, source *report.Report) (answer any, err error) {
		q, form, err := readReportQuery(ctx, time.Now())
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
			"Entry": strconv.FormatUint(rows.Seq, 10), "At": formatTimeToSeconds(rows.At), "From": formatTimeToSeconds(rows.From), "To": formatTimeToSeconds(rows.To),
		} {
			ctx.Response.Header.Set("X-Report-"+name, value)
		}
		return body, nil
	})
}

// formatTimeToSeconds formats a time in Unix nanoseconds as RFC 3339 in whole seconds, in UTC.
func formatTimeToSeconds(unixNanos int64) string {
	return time.Unix(0, unixNanos).UTC().Format(time.RFC3339)
}

// reportRowEncoder encodes the rows of a report one after the other for a streamed answer. first is
// already read: an error such as a too large query shows before the first row, when the answer
// can still be an error.
type reportRowEncoder struct {
	answer *report.AnswerRows
	form   report.RowFormat
	first  *report.Row
}

func (l *reportRowEncoder) appendNextRow(dst []byte) ([]byte, error) {
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
		from := a.operator.Report()
		if from == nil {
			return nil, errNoReport
		}
		return h(ctx, from)
	})
}

// apiErrorOfReport returns the API's error for an error of the report.
func (a *Admin) apiErrorOfReport(err error) error {
	var wrong *report.InvalidQuestionError
	var behind *report.LogNotReachedError
	switch {
	case errors.As(err, &wrong):
		return newInvalidFieldError(wrong.Field, errcode.FieldOutOfRange, wrong.Expected)
	case errors.As(err, &behind):
		return httperror.New(503, errcode.Unavailable, "The report cannot answer yet: "+behind.Error()+". Ask again after the time in Retry-After.")
	}
	a.logger.Error("the report cannot be read; if its file is damaged, the exchange rebuilds it", "error", err)
	return httperror.New(503, errcode.Unavailable, "The report cannot be read at present. Ask again after the time in Retry-After.")
}

// rebuildReport starts to build the report again from the log in the background, and answers
// 202.
func (a *Admin) rebuildReport(ctx *fasthttp.RequestCtx, source *report.Report) (answer any, err error) {
	source.RequestRebuild()
	ctx.SetStatusCode(fasthttp.StatusAccepted)
	return nil, nil
}

// readReportQuery parses the query parameters of GET report. It returns the question, a
// function that returns the output format, and a field error. Without times the period is the
// current month in the requested zone, as far as the report goes back.
func readReportQuery(ctx *fasthttp.RequestCtx, now time.Time) (question *report.Question, newFormat func(*report.Question) report.RowFormat, err error) {
	query := ctx.QueryArgs()
	q := &report.Question{Only: map[report.Dimension]string{}, Zone: time.UTC}
	for name := range strings.SplitSeq(string(query.Peek("by")), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		d, ok := report.ParseDimension(name)
		if !ok {
			return nil, nil, newInvalidFieldError("by", errcode.FieldNotAllowedValue, "some of "+report.DimensionNames()+", with commas between them")
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
			return nil, nil, newInvalidFieldError("zone", errcode.FieldNotAllowedValue, "a time zone such as America/New_York or Asia/Kolkata")
		}
		q.Zone = zone
	}
	if wrong := readReportPeriod(query, q, now); wrong != nil {
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
	return nil, nil, newInvalidFieldError("format", errcode.FieldNotAllowedValue, "ndjson, csv or parquet")
}

func readReportPeriod(query *fasthttp.Args, q *report.Question, now time.Time) error {
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
			return newInvalidFieldError(name, errcode.FieldInvalidFormat, "a day (2026-11-30, its beginning in the zone) or a time (2026-11-30T12:00:00Z)")
		}
		*into = at
	}
	return nil
}
