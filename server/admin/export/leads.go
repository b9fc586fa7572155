package export

import (
	"context"
	"io"
	"strconv"

	"pingpost/engine/market"
	"pingpost/report"
	"pingpost/report/columnar"
)

// leadColumns are the columns of an export of leads: the members of a result of GET leads. None is
// contact data.
var leadColumns = []column[report.FoundLead]{
	textColumn("id", columnar.Text, func(l *report.FoundLead) string { return l.ID.String() }),
	{columnar.Column{Name: "at", Kind: columnar.Instant}, false, func(l *report.FoundLead, c *columnar.Cell) { c.Number = l.At }},
	textColumn("campaign", columnar.Name, func(l *report.FoundLead) string { return l.Campaign }),
	textColumn("supplier", columnar.Name, func(l *report.FoundLead) string { return l.Supplier }),
	textColumn("buyer", columnar.Name, func(l *report.FoundLead) string { return l.Buyer }),
	textColumn("status", columnar.Name, func(l *report.FoundLead) string { return l.Status.String() }),
	textColumn("delivery", columnar.Name, func(l *report.FoundLead) string { return l.Delivery.String() }),
	textColumn("reason", columnar.Name, func(l *report.FoundLead) string { return l.Reason.String() }),
	moneyColumn("price", func(l *report.FoundLead) market.Money { return l.Price }),
	moneyColumn("payout", func(l *report.FoundLead) market.Money { return l.Payout }),
	textColumn("currency", columnar.Name, func(l *report.FoundLead) string { return l.Currency }),
	textColumn("auction", columnar.Text, func(l *report.FoundLead) string {
		if l.Auction.IsZero() {
			return ""
		}
		return l.Auction.String()
	}),
	textColumn("source", columnar.Name, func(l *report.FoundLead) string { return l.Source }),
	textColumn("state", columnar.Name, func(l *report.FoundLead) string { return l.State }),
	flagColumn("test", func(l *report.FoundLead) bool { return l.Test }),
	{columnar.Column{Name: "posts", Kind: columnar.Count}, false, func(l *report.FoundLead, c *columnar.Cell) { c.Number = int64(l.Posts) }},
	flagColumn("erased", func(l *report.FoundLead) bool { return l.Erased }),
}

// textColumn returns a column of texts. An empty text is a missing value.
func textColumn(name string, kind columnar.ColumnKind, of func(*report.FoundLead) string) column[report.FoundLead] {
	return column[report.FoundLead]{columnar.Column{Name: name, Kind: kind, Optional: true}, false, func(l *report.FoundLead, c *columnar.Cell) {
		c.Text = append(c.Text, of(l)...)
		c.None = len(c.Text) == 0
	}}
}

// moneyColumn returns a column of amounts. A lead without a currency has no amounts.
func moneyColumn(name string, of func(*report.FoundLead) market.Money) column[report.FoundLead] {
	return column[report.FoundLead]{columnar.Column{Name: name, Kind: columnar.Money, Optional: true}, false, func(l *report.FoundLead, c *columnar.Cell) {
		c.Number, c.None = int64(of(l)), l.Currency == ""
	}}
}

func flagColumn(name string, of func(*report.FoundLead) bool) column[report.FoundLead] {
	return column[report.FoundLead]{columnar.Column{Name: name, Kind: columnar.Name}, true, func(l *report.FoundLead, c *columnar.Cell) {
		c.Text = strconv.AppendBool(c.Text, of(l))
	}}
}

// pageSize is the number of leads that an export reads at a time.
const pageSize = 500

// LeadSearcher searches leads. *report.Report implements it.
type LeadSearcher interface {
	SearchLeads(ctx context.Context, s report.LeadOrAuctionQuery) ([]report.FoundLead, report.SearchProgress, error)
}

// LeadExport encodes the results of a search for leads, newest first.
//
// It reads a page, ends the read transaction, and encodes the page while the client reads. So a slow
// client holds no transaction, which would stop the database from reusing space. A page continues
// after the last id of the page before, so no lead is missing or repeated. Each page shows the
// leads as they are when it is read. Rejected: one transaction for the whole export.
type LeadExport struct {
	searcher LeadSearcher
	query    report.LeadOrAuctionQuery
	writer   *tableWriter[report.FoundLead]
	ctx      context.Context
	cancel   context.CancelFunc

	page []report.FoundLead // the unencoded rest of the last page
	next [16]byte           // After of the next page; zero: the last page is read
	head bool               // the bytes before the first row are encoded
}

// NewLeadExport starts an export and reads its first page, so that an invalid query is an error
// before the first byte. columns picks the columns, by their names; an empty one picks all. The query
// must have an end (To), so that leads that arrive during the export do not extend it.
func NewLeadExport(searcher LeadSearcher, query report.LeadOrAuctionQuery, format Format, columns string) (*LeadExport, error) {
	picked, expected := pickColumns(leadColumns, columns)
	if expected != "" {
		return nil, &report.InvalidQuestionError{Field: "columns", Expected: expected}
	}
	query.Limit = pageSize
	e := &LeadExport{searcher: searcher, query: query, writer: newTableWriter(format, picked, nil)}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if err := e.readPage(); err != nil {
		e.cancel()
		return nil, err
	}
	return e, nil
}

func (e *LeadExport) readPage() error {
	found, progress, err := e.searcher.SearchLeads(e.ctx, e.query)
	e.page, e.next, e.query.After = found, progress.Next, progress.Next
	return err
}

// ContentType returns the media type of the file.
func (e *LeadExport) ContentType() string { return e.writer.contentType() }

// AppendNextRow appends the next row. After the last row it appends the end of the file and returns
// io.EOF.
func (e *LeadExport) AppendNextRow(dst []byte) ([]byte, error) {
	if !e.head {
		e.head = true
		dst = e.writer.appendHeadIfCSV(dst)
	}
	for len(e.page) == 0 {
		if e.next == ([16]byte{}) {
			dst, err := e.writer.appendEnd(dst)
			if err == nil {
				err = io.EOF
			}
			return dst, err
		}
		if err := e.readPage(); err != nil {
			return dst, err
		}
	}
	dst = e.writer.appendRow(dst, &e.page[0])
	e.page = e.page[1:]
	return dst, nil
}

// Close ends the export, and a search that is running for it.
func (e *LeadExport) Close() { e.cancel() }
