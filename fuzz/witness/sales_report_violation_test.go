package witness

import "testing"

// reportEvidence is honestEvidence with a returned lead and a matching sales report.
func reportEvidence() *forgedEvidence {
	f := honestEvidence()
	f.changed("two", `"result":"done","to":"returned","credit":5,"reverse":4`)
	f.accounts["rec"] = buyerAccount{Balance: signedAmount(10 * unit)}
	f.report = &SalesReport{Seq: uint64(len(f.lines)), Buyers: map[string]ReportRow{
		"blue": {Buyer: "blue", Sales: 1, Revenue: 10 * unit, Payout: 8 * unit},
		"rec":  {Buyer: "rec", Sales: 1, Returns: 1, Revenue: 5 * unit, Payout: 4 * unit, Credit: 5 * unit, Reversal: 4 * unit},
		"":     {},
	}}
	return f
}

// reportSays changes a buyer's row of the report.
func (f *forgedEvidence) reportSays(buyer string, change func(s *ReportRow)) {
	s := f.report.Buyers[buyer]
	change(&s)
	f.report.Buyers[buyer] = s
}

func TestAuditAcceptsOlderSalesReport(t *testing.T) {
	f := reportEvidence()
	f.report.Seq-- // before the return
	f.reportSays("rec", func(s *ReportRow) { s.Returns, s.Credit, s.Reversal = 0, 0, 0 })
	f.expectNothing(t)
}

func TestAuditDetectsFalseSalesReport(t *testing.T) {
	expectDetected(t, reportEvidence, []forgery{
		{"report beyond the log", "but the log ends at", func(f *forgedEvidence) { f.report.Seq += 9 }},
		{"report behind its position", "sales report: buyer rec", func(f *forgedEvidence) { f.report.Seq-- }},
		{"one millionth too much", "sales report: buyer blue", func(f *forgedEvidence) { f.reportSays("blue", func(s *ReportRow) { s.Revenue++ }) }},
		{"a sale twice", "sales report: buyer blue", func(f *forgedEvidence) { f.reportSays("blue", func(s *ReportRow) { s.Sales++ }) }},
		{"another payout", "sales report: buyer rec", func(f *forgedEvidence) { f.reportSays("rec", func(s *ReportRow) { s.Payout-- }) }},
		{"a return that is left out", "sales report: buyer rec", func(f *forgedEvidence) { f.reportSays("rec", func(s *ReportRow) { s.Returns, s.Credit = 0, 0 }) }},
		{"half a reversal", "sales report: buyer rec", func(f *forgedEvidence) { f.reportSays("rec", func(s *ReportRow) { s.Reversal /= 2 }) }},
		{"a buyer that is left out", "sales report: buyer blue", func(f *forgedEvidence) { delete(f.report.Buyers, "blue") }},
		{"a buyer too many", "the log has no payments", func(f *forgedEvidence) { f.reportSays("other", func(s *ReportRow) { s.Sales = 1 }) }},
	})
}
