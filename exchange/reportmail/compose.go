package reportmail

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"pingpost/engine/savedreport"
	"pingpost/outbound/mail"
	"pingpost/report"
	"pingpost/server/admin/savedreports"
)

// Composer computes the e-mails of reports.
type Composer struct {
	Report func() *report.Report // nil: the report is off
	Zone   *time.Location
	Tenant string // shown in the e-mails
	Epoch  [16]byte

	ConsoleURL string // address of the console, without a slash at its end; empty: unknown, and no link

	MaxAttachment int // bytes of the CSV file; a larger one is left out; 0: 1 MB
}

const (
	// maxAttachment is the default of Composer.MaxAttachment.
	maxAttachment = 1 << 20
	// maxBodyRows is the number of rows in the text, without the totals.
	maxBodyRows = 50
	// maxBodyColumns is the number of the query's columns in the text.
	maxBodyColumns = 8
)

var errReportLacksNewestLeads = errors.New("the e-mail of the report cannot be written yet, because the report lacks the newest leads; try again in a few seconds")

var errReportOff = errors.New("the exchange keeps no report; set report.keep in its configuration and restart it")

// Compose returns the e-mail of a report at a moment, without sender and recipients. The name of the
// period is resolved at that moment, so a later attempt has the same period.
func (c *Composer) Compose(ctx context.Context, entry *savedreport.Entry, momentNanos int64) (*mail.Message, error) {
	source := c.Report()
	if source == nil {
		return nil, errReportOff
	}
	question, faults := savedreports.NewQuestion(&entry.Query, time.Unix(0, momentNanos), c.Zone)
	if len(faults) > 0 {
		return nil, fmt.Errorf("the saved query is invalid: %s: expected %s", faults[0].Field, faults[0].Expected)
	}
	question.Totals = true // the text always has them
	if !source.WaitBrieflyForNewestEntries(ctx, question.To) {
		return nil, errReportLacksNewestLeads
	}
	rows, err := source.Ask(ctx, *question)
	if err != nil {
		return nil, fmt.Errorf("the report cannot be computed: %w", err)
	}
	defer rows.Close()
	read, err := readMailContent(rows, &entry.Query, cmp.Or(c.MaxAttachment, maxAttachment))
	if err != nil {
		return nil, fmt.Errorf("the report cannot be computed: %w", err)
	}
	read.name, read.tenant, read.filters = entry.Name, c.Tenant, describeFilters(entry.Query.Filters)
	read.consoleURL = c.ConsoleURL
	read.period = describePeriod(rows.From, rows.To, c.Zone)
	message := &mail.Message{
		ID:      messageID("report_"+hex.EncodeToString(c.Epoch[:4]), strings.TrimPrefix(entry.ID, "report_"), momentNanos),
		Subject: fmt.Sprintf("%s, %s", entry.Name, read.period), Text: read.text(), HTML: read.html(),
	}
	if c.Tenant != "" {
		message.Subject = "[" + c.Tenant + "] " + message.Subject
	}
	if !read.isFileTooLarge() {
		message.Attachment = &mail.Attachment{Name: fileName(entry.Name, rows.From, c.Zone), Type: "text/csv", Data: read.file}
	}
	return message, nil
}

// mailContent is a report that was read for an e-mail.
type mailContent struct {
	name, tenant, period string
	consoleURL           string // empty: unknown
	filters              string // empty: none
	columns              []string
	isNumber             []bool     // by column
	rows                 [][]string // the first ones
	totals               [][]string // one for each currency
	count                int        // of all rows without the totals
	maxFile              int
	file                 []byte // CSV; longer than maxFile: incomplete
}

func (c *mailContent) isFileTooLarge() bool { return len(c.file) > c.maxFile }

// readMailContent reads a report to its end. It keeps the rows of the text, and writes the file as GET
// report?format=csv does, until the file is longer than maxFile.
func readMailContent(rows *report.RowIterator, q *savedreport.Query, maxFile int) (*mailContent, error) {
	inFile, inBody := rows.Question, rows.Question
	inFile.Totals, inBody.Columns = q.Totals, bodyColumns(q)
	csv := report.NewCSV(&inFile)
	read := &mailContent{maxFile: maxFile, file: csv.Begin(nil)}
	var cellsOf func(*report.Row) []string
	read.columns, cellsOf = report.Cells(&inBody)
	for _, name := range read.columns {
		read.isNumber = append(read.isNumber, !isText(name))
	}
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return read, nil
		}
		if err != nil {
			return nil, err
		}
		if !read.isFileTooLarge() && (q.Totals || !row.IsTotal) {
			read.file = csv.Row(read.file, row)
		}
		switch {
		case row.IsTotal:
			read.totals = append(read.totals, cellsOf(row))
			continue
		case read.count < maxBodyRows:
			read.rows = append(read.rows, cellsOf(row))
		}
		read.count++
	}
}

// bodyColumns returns the columns of the text: the first ones of the query, or the dimensions and the
// most important figures.
func bodyColumns(q *savedreport.Query) (names []string) {
	if picked := slices.DeleteFunc(slices.Clone(q.Columns), func(name string) bool { return name == "row" }); len(picked) > 0 {
		return picked[:min(len(picked), maxBodyColumns)]
	}
	for _, name := range q.By {
		switch name {
		case "supplier", "buyer", "campaign":
			name += "_id"
		}
		names = append(names, name)
	}
	return append(names, "currency", "revenue", "payout", "margin", "leads", "sales")
}

// isText reports whether a column has names or times, and no numbers.
func isText(column string) bool {
	switch column {
	case "hour", "day", "supplier_id", "buyer_id", "campaign_id", "source", "state", "reason", "currency":
		return true
	}
	return false
}

// describeFilters returns the filters of a query in words, such as buyer acme, state CA.
func describeFilters(filters map[string]string) string {
	all := make([]string, 0, len(filters))
	for _, dimension := range slices.Sorted(maps.Keys(filters)) {
		all = append(all, strings.TrimSpace(dimension+" "+cmp.Or(filters[dimension], "none")))
	}
	return strings.Join(all, ", ")
}

// describePeriod returns the days of a period, such as 2026-11-01 to 2026-11-30.
func describePeriod(from, to int64, zone *time.Location) string {
	first := time.Unix(0, from).In(zone).Format(time.DateOnly)
	last := time.Unix(0, max(from, to-1)).In(zone).Format(time.DateOnly)
	if first == last {
		return first
	}
	return first + " to " + last
}

// fileName returns the name of the file: letters and digits of the report's name, and the first day.
func fileName(name string, from int64, zone *time.Location) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(append(words, time.Unix(0, from).In(zone).Format(time.DateOnly)), "-") + ".csv"
}
