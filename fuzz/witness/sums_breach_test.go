package witness

import "testing"

// summedWorld is the watched one, with a lead that came back, and a report that says so.
func summedWorld() *forged {
	f := honest()
	f.changed("two", `"result":"done","to":"returned","credit":5,"reverse":4`)
	f.funds["rec"] = account{Balance: balance(10 * unit)}
	f.sums = &sums{entry: uint64(len(f.lines)), buyers: map[string]summed{
		"blue": {Buyer: "blue", Sales: 1, Revenue: 10 * unit, Payout: 8 * unit},
		"rec":  {Buyer: "rec", Sales: 1, Returns: 1, Revenue: 5 * unit, Payout: 4 * unit, Credit: 5 * unit, Reversal: 4 * unit},
		"":     {},
	}}
	return f
}

// reportSays has the report say something else of a buyer.
func (f *forged) reportSays(buyer string, change func(s *summed)) {
	s := f.sums.buyers[buyer]
	change(&s)
	f.sums.buyers[buyer] = s
}

func TestAuditOfSumsHonest(t *testing.T) {
	if found := summedWorld().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
	f := summedWorld()
	f.sums.entry-- // before the lead came back
	f.reportSays("rec", func(s *summed) { s.Returns, s.Credit, s.Reversal = 0, 0, 0 })
	if found := f.findings(); len(found) > 0 {
		t.Errorf("a report of earlier has findings: %q", found)
	}
}

func TestAuditOfSumsSees(t *testing.T) {
	foundOut(t, summedWorld, []lie{
		{"a report of later", "and the log ends at", func(f *forged) { f.sums.entry += 9 }},
		{"a report that is behind what it says", "the report says of rec", func(f *forged) { f.sums.entry-- }},
		{"a millionth", "the report says of blue", func(f *forged) { f.reportSays("blue", func(s *summed) { s.Revenue++ }) }},
		{"a sale twice", "the report says of blue", func(f *forged) { f.reportSays("blue", func(s *summed) { s.Sales++ }) }},
		{"another payout", "the report says of rec", func(f *forged) { f.reportSays("rec", func(s *summed) { s.Payout-- }) }},
		{"a return that is left out", "the report says of rec", func(f *forged) { f.reportSays("rec", func(s *summed) { s.Returns, s.Credit = 0, 0 }) }},
		{"half a reversal", "the report says of rec", func(f *forged) { f.reportSays("rec", func(s *summed) { s.Reversal /= 2 }) }},
		{"a buyer that is left out", "the report says of blue", func(f *forged) { delete(f.sums.buyers, "blue") }},
		{"a buyer too many", "by the log there is nothing", func(f *forged) { f.reportSays("other", func(s *summed) { s.Sales = 1 }) }},
	})
}
