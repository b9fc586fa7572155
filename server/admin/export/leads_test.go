package export

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/report"
)

// pagedLeads is a source of leads in pages. A page may be empty although there are more.
type pagedLeads struct {
	pages [][]report.FoundLead
	fail  error // after the last page
	asked []report.LeadOrAuctionQuery
}

func (p *pagedLeads) SearchLeads(ctx context.Context, s report.LeadOrAuctionQuery) (found []report.FoundLead, progress report.SearchProgress, err error) {
	if err := ctx.Err(); err != nil {
		return nil, progress, err
	}
	p.asked = append(p.asked, s)
	n := len(p.asked)
	if n > len(p.pages) {
		return nil, progress, p.fail
	}
	if n < len(p.pages) || p.fail != nil {
		progress.Next = [16]byte{byte(n)}
	}
	return p.pages[n-1], progress, nil
}

func lead(n byte, change func(*report.FoundLead)) report.FoundLead {
	l := report.FoundLead{
		ID: market.LeadID{n}, At: 1_800_000_000_000_000_000 + int64(n), Campaign: "cmp", Supplier: "sup", Buyer: "buy", Status: market.StatusAccepted,
		Price: 12_500_000, Payout: 10_000_000, Currency: "USD", State: "CA", Posts: 1,
	}
	change(&l)
	return l
}

func threePages() *pagedLeads {
	return &pagedLeads{pages: [][]report.FoundLead{
		{lead(9, func(l *report.FoundLead) { l.Source = "=HYPERLINK(1)" }), lead(8, func(l *report.FoundLead) { l.Test = true })},
		{},
		{lead(7, func(l *report.FoundLead) {
			l.Buyer, l.Currency, l.Price, l.Payout, l.Status, l.Reason = "", "", 0, 0, market.StatusUnmatched, market.ReasonNoBid
		})},
	}}
}

// readAll returns the whole file.
func readAll(e *LeadExport) (text []byte, err error) {
	defer e.Close()
	for {
		if text, err = e.AppendNextRow(text); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return text, err
		}
	}
}

func TestLeadExportCSV(t *testing.T) {
	source := threePages()
	text := string(must.Value(readAll(must.Value(NewLeadExport(source, report.LeadOrAuctionQuery{To: 5, Campaign: "cmp"}, CSV, "source, price,buyer,status,reason,test,at"))(t)))(t))
	const want = "source,price,buyer,status,reason,test,at\r\n" +
		"'=HYPERLINK(1),12.5,buy,ACCEPTED,,false,2027-01-15T08:00:00.000Z\r\n" +
		",12.5,buy,ACCEPTED,,true,2027-01-15T08:00:00.000Z\r\n" +
		",,,UNMATCHED,no_bid,false,2027-01-15T08:00:00.000Z\r\n"
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	for i, s := range source.asked {
		if s.To != 5 || s.Campaign != "cmp" || s.Limit != pageSize || (i == 0) != (s.After == [16]byte{}) || i > 0 && s.After != [16]byte{byte(i)} {
			t.Errorf("page %d was asked for with %+v", i, s)
		}
	}
}

func TestLeadExportNDJSON(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(must.Value(readAll(must.Value(NewLeadExport(threePages(), report.LeadOrAuctionQuery{To: 5}, NDJSON, ""))(t)))(t))), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines", len(lines))
	}
	var last map[string]any
	must.Succeed(t, json.Unmarshal([]byte(lines[2]), &last))
	if len(last) != len(leadColumns) || last["price"] != nil || last["buyer"] != nil || last["test"] != false || last["posts"] != 1.0 || last["reason"] != "no_bid" {
		t.Errorf("got %v", last)
	}
}

func TestLeadExportParquet(t *testing.T) {
	text := string(must.Value(readAll(must.Value(NewLeadExport(threePages(), report.LeadOrAuctionQuery{To: 5}, Parquet, ""))(t)))(t))
	file := must.Value(parquet.OpenFile(strings.NewReader(text), int64(len(text))))(t)
	if file.NumRows() != 3 || len(file.Schema().Columns()) != len(leadColumns) {
		t.Errorf("%d rows of %d columns", file.NumRows(), len(file.Schema().Columns()))
	}
}

// TestLeadExportFails checks that an error is reported: before the first row as an error of the
// start, later as an error of a row, so that a part never looks like the whole.
func TestLeadExportFails(t *testing.T) {
	for _, columns := range []string{"price,none", "price,price", ","} {
		var wrong *report.InvalidQuestionError
		if _, err := NewLeadExport(threePages(), report.LeadOrAuctionQuery{}, CSV, columns); !errors.As(err, &wrong) || wrong.Field != "columns" {
			t.Errorf("columns %q: %v", columns, err)
		}
	}
	broken := errors.New("broken")
	if _, err := NewLeadExport(&pagedLeads{fail: broken}, report.LeadOrAuctionQuery{}, CSV, ""); !errors.Is(err, broken) {
		t.Errorf("the first page fails: %v", err)
	}
	later := threePages()
	later.fail = broken
	if _, err := readAll(must.Value(NewLeadExport(later, report.LeadOrAuctionQuery{}, CSV, ""))(t)); !errors.Is(err, broken) {
		t.Errorf("the last page fails: %v", err)
	}
	e := must.Value(NewLeadExport(threePages(), report.LeadOrAuctionQuery{}, NDJSON, ""))(t)
	e.Close()
	if _, err := readAll(e); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended export reads on: %v", err)
	}
}
