package witness

import "testing"

// reportEvidence is honestEvidence with a returned lead and matching sales reports.
func reportEvidence() *forgedEvidence {
	f := honestEvidence()
	f.changed("two", `"result":"done","to":"returned","credit":5,"reverse":4`)
	f.accounts["rec"] = buyerAccount{Balance: signedAmount(10 * unit)}
	end := uint64(len(f.lines))
	f.reports = []*SalesReport{
		{By: "buyer", Seq: end, Rows: map[string]ReportRow{
			"blue": {Buyer: "blue", Sales: 1, Revenue: 10 * unit, Payout: 8 * unit},
			"rec":  {Buyer: "rec", Sales: 1, Returns: 1, Revenue: 5 * unit, Payout: 4 * unit, Credit: 5 * unit, Reversal: 4 * unit},
			"":     {},
		}},
		{By: "supplier", Seq: end, Rows: map[string]ReportRow{
			SupplierID: {Supplier: SupplierID, Sales: 2, Returns: 1, Revenue: 15 * unit, Payout: 12 * unit, Credit: 5 * unit, Reversal: 4 * unit},
		}},
	}
	return f
}

// reportSays changes a row of the report by buyer, or of the one by supplier if id is the supplier.
func (f *forgedEvidence) reportSays(id string, change func(s *ReportRow)) {
	r := f.reports[0]
	if id == SupplierID {
		r = f.reports[1]
	}
	s := r.Rows[id]
	change(&s)
	r.Rows[id] = s
}

func TestAuditAcceptsOlderSalesReport(t *testing.T) {
	f := reportEvidence()
	for i, id := range []string{"rec", SupplierID} {
		f.reports[i].Seq-- // before the return
		f.reportSays(id, func(s *ReportRow) { s.Returns, s.Credit, s.Reversal = 0, 0, 0 })
	}
	f.expectNothing(t)
}

func TestAuditDetectsFalseSalesReport(t *testing.T) {
	const bySupplier = "sales report: supplier " + SupplierID + " has"
	expectDetected(t, reportEvidence, []forgery{
		{"report beyond the log", "by buyer: as of entry", func(f *forgedEvidence) { f.reports[0].Seq += 9 }},
		{"report behind its position", "sales report: buyer rec", func(f *forgedEvidence) { f.reports[0].Seq-- }},
		{"one millionth too much", "sales report: buyer blue", func(f *forgedEvidence) { f.reportSays("blue", func(s *ReportRow) { s.Revenue++ }) }},
		{"a sale twice", "sales report: buyer blue", func(f *forgedEvidence) { f.reportSays("blue", func(s *ReportRow) { s.Sales++ }) }},
		{"another payout", "sales report: buyer rec", func(f *forgedEvidence) { f.reportSays("rec", func(s *ReportRow) { s.Payout-- }) }},
		{"a return that is left out", "sales report: buyer rec", func(f *forgedEvidence) { f.reportSays("rec", func(s *ReportRow) { s.Returns, s.Credit = 0, 0 }) }},
		{"half a reversal", "sales report: buyer rec", func(f *forgedEvidence) { f.reportSays("rec", func(s *ReportRow) { s.Reversal /= 2 }) }},
		{"a buyer that is left out", "sales report: buyer blue", func(f *forgedEvidence) { delete(f.reports[0].Rows, "blue") }},
		{"a buyer too many", "the log has no payments", func(f *forgedEvidence) { f.reportSays("other", func(s *ReportRow) { s.Sales = 1 }) }},
		{"supplier: beyond the log", "by supplier: as of entry", func(f *forgedEvidence) { f.reports[1].Seq += 9 }},
		{"supplier: behind its position", bySupplier, func(f *forgedEvidence) { f.reports[1].Seq-- }},
		{"supplier: one millionth of payout too much", bySupplier, func(f *forgedEvidence) { f.reportSays(SupplierID, func(s *ReportRow) { s.Payout++ }) }},
		{"supplier: a reversal that is left out", bySupplier, func(f *forgedEvidence) { f.reportSays(SupplierID, func(s *ReportRow) { s.Reversal = 0 }) }},
		{"supplier: a return twice", bySupplier, func(f *forgedEvidence) { f.reportSays(SupplierID, func(s *ReportRow) { s.Returns++ }) }},
		{"supplier: left out", bySupplier, func(f *forgedEvidence) { delete(f.reports[1].Rows, SupplierID) }},
		{"supplier: one too many", "supplier sup_other has", func(f *forgedEvidence) {
			f.reports[1].Rows["sup_other"] = ReportRow{Supplier: "sup_other", Payout: unit}
		}},
	})
}
