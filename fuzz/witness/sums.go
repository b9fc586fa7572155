//go:build unix

package witness

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pingpost/engine/market"
)

// sums is what the exchange's report says of all money, as of an entry of the log.
type sums struct {
	entry  uint64
	buyers map[string]summed
}

// summed is a row of the report.
type summed struct {
	Buyer    string       `json:"buyer_id"`
	Sales    int          `json:"sales"`
	Returns  int          `json:"returns"`
	Revenue  market.Money `json:"revenue"`
	Payout   market.Money `json:"payout"`
	Credit   market.Money `json:"credit"`
	Reversal market.Money `json:"reversal"`
}

// summedUp: the report has of each buyer what the log has up to the report's entry, to
// the millionth.
func (p *Picture) summedUp() (found findings) {
	if p.sums == nil {
		return nil
	}
	if p.sums.entry > p.book.seq {
		found.add("the report is of entry %d, and the log ends at %d", p.sums.entry, p.book.seq)
	}
	want, payers := map[string]summed{}, p.book.payers()
	for who, lines := range p.book.lines {
		for _, m := range lines {
			e := p.book.leads[m.lead]
			if m.seq > p.sums.entry || e == nil {
				continue
			}
			buyer := who
			if who == supplier {
				buyer = payers[payment{m.seq, m.lead}]
			}
			s := want[buyer]
			s.Buyer = buyer
			switch m.kind {
			case "sale":
				if who == supplier {
					s.Payout += m.amount
				} else {
					s.Sales, s.Revenue = s.Sales+1, s.Revenue-m.amount
				}
			case "return":
				s.Returns, s.Credit = s.Returns+1, s.Credit+m.amount
			case "reversal":
				s.Reversal -= m.amount
			}
			want[buyer] = s
		}
	}
	for buyer, s := range want {
		if got := p.sums.buyers[buyer]; got != s {
			found.add("the report says of %s %+v, and by the log it is %+v", buyer, got, s)
		}
	}
	for buyer, got := range p.sums.buyers {
		if _, there := want[buyer]; !there && got != (summed{Buyer: buyer}) {
			found.add("the report says of %s %+v, and by the log there is nothing", buyer, got)
		}
	}
	return found
}

// payment is a line's lead, and the entry that it came with.
type payment struct {
	seq  uint64
	lead string
}

// payers are the buyers that the supplier's lines are paid by.
func (b *book) payers() map[payment]string {
	all := map[payment]string{}
	for who, lines := range b.lines {
		for i := range lines {
			if who != supplier {
				all[payment{lines[i].seq, lines[i].lead}] = who
			}
		}
	}
	return all
}

// readSums reads the report of an exchange; caught: it has to have come to where the log
// is just now. It is nil where the report is not ready to be read.
func (s *Scene) readSums(caught bool) (told *sums) {
	s.t.Helper()
	now := s.Hash().Seq
	Await(s.t, "the report has come to where the log was", func() bool {
		if end := s.Ended(); end != "" {
			s.t.Fatal(end)
		}
		told = s.askSums()
		return !caught || told != nil && told.entry >= now
	})
	return told
}

func (s *Scene) askSums() *sums {
	day := func(from int) string { return time.Now().UTC().AddDate(0, 0, from).Format(time.DateOnly) }
	status, text, header, err := s.Office.ask("GET", "report?by=buyer&format=ndjson&from="+day(-3)+"&to="+day(3), nil)
	if err != nil || status == http.StatusServiceUnavailable {
		time.Sleep(50 * time.Millisecond)
		return nil
	}
	entry, err := strconv.ParseUint(header.Get("X-Report-Entry"), 10, 64)
	if status != http.StatusOK || err != nil {
		s.t.Errorf("the report was answered %d %s %v", status, text, err)
		return nil
	}
	told := &sums{entry: entry, buyers: map[string]summed{}}
	for line := range strings.Lines(string(text)) {
		var row summed
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			s.t.Errorf("the report has the row %q: %v", line, err)
			return nil
		}
		told.buyers[row.Buyer] = row
	}
	return told
}
