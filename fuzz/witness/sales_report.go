//go:build unix

package witness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pingpost/engine/market"
)

// SalesReport is the exchange's sales report by buyer or by supplier, as of a log position.
type SalesReport struct {
	By   string // "buyer" or "supplier"
	Seq  uint64
	Rows map[string]ReportRow // by id; the empty id has what belongs to nobody
}

// ReportRow is the report's row of a buyer or a supplier. The other id is empty.
type ReportRow struct {
	Buyer    string       `json:"buyer_id"`
	Supplier string       `json:"supplier_id"`
	Sales    int          `json:"sales"`
	Returns  int          `json:"returns"`
	Revenue  market.Money `json:"revenue"`
	Payout   market.Money `json:"payout"`
	Credit   market.Money `json:"credit"`
	Reversal market.Money `json:"reversal"`
}

// newReportRow returns a row without payments.
func newReportRow(by, id string) ReportRow {
	if by == "supplier" {
		return ReportRow{Supplier: id}
	}
	return ReportRow{Buyer: id}
}

// reportRows returns the rows that a report by buyer or by supplier must have at a log position.
func (b *logModel) reportRows(by string, upTo uint64) map[string]ReportRow {
	rows := map[string]ReportRow{}
	for _, m := range b.payments {
		if m.seq > upTo || m.lead == "" {
			continue
		}
		id := m.buyer
		if by == "supplier" {
			id = SupplierID
		}
		s, there := rows[id]
		if !there {
			s = newReportRow(by, id)
		}
		if m.kind == "sale" {
			s.Sales, s.Revenue, s.Payout = s.Sales+1, s.Revenue+m.price, s.Payout+m.payout
		} else {
			s.Returns, s.Credit, s.Reversal = s.Returns+1, s.Credit-m.price, s.Reversal-m.payout
		}
		rows[id] = s
	}
	return rows
}

// checkReports compares each row with the log up to the report's position. The sums must be
// exact.
func (p *Evidence) checkReports() (found findings) {
	for _, r := range p.reports {
		if r.Seq > p.model.seq {
			found.add("sales report by %s: as of entry %d, but the log ends at %d", r.By, r.Seq, p.model.seq)
		}
		want := p.model.reportRows(r.By, r.Seq)
		for id, s := range want {
			if got := r.Rows[id]; got != s {
				found.add("sales report: %s %s has %+v, but the log has %+v", r.By, id, got, s)
			}
		}
		for id, got := range r.Rows {
			if _, there := want[id]; !there && got != newReportRow(r.By, id) {
				found.add("sales report: %s %s has %+v, but the log has no payments", r.By, id, got)
			}
		}
	}
	return found
}

// readReports reads the sales report by buyer and by supplier. If caught is set, it waits until
// each has reached the log's current position. Otherwise it leaves out those that are not ready.
func (s *Harness) readReports(caught bool) (answered []*SalesReport) {
	s.t.Helper()
	now := s.ReadStateHash().Seq
	for _, by := range []string{"buyer", "supplier"} {
		s.AwaitWhileRunning("the sales report reaches the log's position", func() bool {
			one := s.requestReport(by)
			if caught && (one == nil || one.Seq < now) {
				return false
			}
			if one != nil {
				answered = append(answered, one)
			}
			return true
		})
	}
	return answered
}

// requestReport returns nil if the report is not ready.
func (s *Harness) requestReport(by string) *SalesReport {
	answered, err := ReadReport(context.Background(), s.adminAddress(), by)
	switch {
	case errors.Is(err, errNoReport):
		time.Sleep(50 * time.Millisecond)
	case err != nil:
		s.t.Error(err)
	}
	return answered
}

// errNoReport reports that the exchange did not answer, or that its report is not ready.
var errNoReport = errors.New("the sales report is not ready")

// ReadReport reads the sales report of the last and the next days from an admin API, by "buyer"
// or by "supplier".
func ReadReport(ctx context.Context, adminURL, by string) (*SalesReport, error) {
	day := func(from int) string { return time.Now().UTC().AddDate(0, 0, from).Format(time.DateOnly) }
	status, text, header, err := SendAdmin(ctx, http.MethodGet, adminURL+"/admin/v1/report?by="+by+"&format=ndjson&from="+day(-3)+"&to="+day(3), nil)
	if err != nil || status == http.StatusServiceUnavailable {
		return nil, errors.Join(errNoReport, err)
	}
	entry, err := strconv.ParseUint(header.Get("X-Report-Entry"), 10, 64)
	if status != http.StatusOK || err != nil {
		return nil, fmt.Errorf("sales report: unexpected answer %d %s %w", status, text, err)
	}
	answered := &SalesReport{By: by, Seq: entry, Rows: map[string]ReportRow{}}
	for line := range strings.Lines(string(text)) {
		var row ReportRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, fmt.Errorf("sales report: invalid row %q: %w", line, err)
		}
		answered.Rows[row.Buyer+row.Supplier] = row
	}
	return answered, nil
}
