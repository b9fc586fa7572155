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

// SalesReport is the exchange's sales report as of a log position.
type SalesReport struct {
	Seq    uint64
	Buyers map[string]ReportRow
}

// ReportRow is a buyer's row of the report.
type ReportRow struct {
	Buyer    string       `json:"buyer_id"`
	Sales    int          `json:"sales"`
	Returns  int          `json:"returns"`
	Revenue  market.Money `json:"revenue"`
	Payout   market.Money `json:"payout"`
	Credit   market.Money `json:"credit"`
	Reversal market.Money `json:"reversal"`
}

// checkReport compares each buyer's row with the log up to the report's position. The sums must
// be exact.
func (p *Evidence) checkReport() (found findings) {
	if p.report == nil {
		return nil
	}
	if p.report.Seq > p.model.seq {
		found.add("sales report: as of entry %d, but the log ends at %d", p.report.Seq, p.model.seq)
	}
	want := map[string]ReportRow{}
	for _, m := range p.model.payments {
		if m.seq > p.report.Seq || m.lead == "" {
			continue
		}
		s := want[m.buyer]
		if s.Buyer = m.buyer; m.kind == "sale" {
			s.Sales, s.Revenue, s.Payout = s.Sales+1, s.Revenue+m.price, s.Payout+m.payout
		} else {
			s.Returns, s.Credit, s.Reversal = s.Returns+1, s.Credit-m.price, s.Reversal-m.payout
		}
		want[m.buyer] = s
	}
	for buyer, s := range want {
		if got := p.report.Buyers[buyer]; got != s {
			found.add("sales report: buyer %s has %+v, but the log has %+v", buyer, got, s)
		}
	}
	for buyer, got := range p.report.Buyers {
		if _, there := want[buyer]; !there && got != (ReportRow{Buyer: buyer}) {
			found.add("sales report: buyer %s has %+v, but the log has no payments", buyer, got)
		}
	}
	return found
}

// readReport reads the sales report. If caught is set, it waits until the report has reached
// the log's current position. Otherwise it returns nil if the report is not ready.
func (s *Harness) readReport(caught bool) (answered *SalesReport) {
	s.t.Helper()
	now := s.ReadStateHash().Seq
	s.AwaitWhileRunning("the sales report reaches the log's position", func() bool {
		answered = s.requestReport()
		return !caught || answered != nil && answered.Seq >= now
	})
	return answered
}

func (s *Harness) requestReport() *SalesReport {
	answered, err := ReadReport(context.Background(), s.adminAddress())
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

// ReadReport reads the sales report of the last and the next days from an admin API.
func ReadReport(ctx context.Context, adminURL string) (*SalesReport, error) {
	day := func(from int) string { return time.Now().UTC().AddDate(0, 0, from).Format(time.DateOnly) }
	status, text, header, err := SendAdmin(ctx, http.MethodGet, adminURL+"/admin/v1/report?by=buyer&format=ndjson&from="+day(-3)+"&to="+day(3), nil)
	if err != nil || status == http.StatusServiceUnavailable {
		return nil, errors.Join(errNoReport, err)
	}
	entry, err := strconv.ParseUint(header.Get("X-Report-Entry"), 10, 64)
	if status != http.StatusOK || err != nil {
		return nil, fmt.Errorf("sales report: unexpected answer %d %s %w", status, text, err)
	}
	answered := &SalesReport{Seq: entry, Buyers: map[string]ReportRow{}}
	for line := range strings.Lines(string(text)) {
		var row ReportRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, fmt.Errorf("sales report: invalid row %q: %w", line, err)
		}
		answered.Buyers[row.Buyer] = row
	}
	return answered, nil
}
