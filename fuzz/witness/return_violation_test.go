package witness

import (
	"fmt"
	"testing"
)

// waitingReturnsEvidence is honestEvidence with three returns that need approval: one approved,
// one refused and one pending.
func waitingReturnsEvidence() *forgedEvidence {
	f := honestEvidence()
	f.config.campaigns[0].manualReturns = true
	f.config.caps[2].count, f.config.caps[0].count = 9, 9
	f.config.buyerByID("rec").balance = 30 * unit
	f.addEvent("funds_moved", `"buyer":2,"amount":"10","opening":false`)
	f.sold("four", "rec")
	f.sold("five", "rec")
	f.accounts["rec"] = buyerAccount{Balance: signedAmount(10 * unit)}
	for _, lead := range []string{"two", "four", "five"} {
		f.changed(lead, `"result":"waits","to":"returned"`)
		said := f.reportedOn(lead, "ACCEPTED")
		said.statusReports[0].Return = "waiting"
		f.statusReports = append(f.statusReports, said)
	}
	f.changed("two", `"result":"done","to":"returned","waited":true,"credit":5,"reverse":4`)
	f.changed("four", `"result":"refused","to":"returned","waited":true`)
	f.acknowledged = []operatorAction{{"return approved, lead", "two"}, {"return refused, lead", "four"}}
	return f
}

func (f *forgedEvidence) changed(lead, rest string) {
	f.addEvent("status_changed", fmt.Sprintf(`"buyer":2,"changes":[{"lead":%q,"from":"ACCEPTED",%s}]`, lead, rest))
}

func TestAuditDetectsFalseWaitingReturns(t *testing.T) {
	expectDetected(t, waitingReturnsEvidence, []forgery{
		{"lost return request", "lead three: its status ACCEPTED was acknowledged, but is not in the log", func(f *forgedEvidence) {
			said := f.reportedOn("three", "ACCEPTED")
			said.statusReports[0].Return = "waiting"
			f.statusReports = append(f.statusReports, said)
		}},
		{"return before the decision", `lead two with statuses ["returned"] cannot become returned (result done, return "approved")`, func(f *forgedEvidence) {
			f.changed("two", `"result":"done","to":"returned","credit":5,"reverse":4`)
		}},
		{"return without approval", "cannot become returned (result done, ", func(f *forgedEvidence) {
			f.sold("six", "rec")
			f.changed("six", `"result":"done","to":"returned","credit":5,"reverse":4`)
		}},
		{"it moved while it waited", `cannot become contacted (result done, return "waiting")`, func(f *forgedEvidence) { f.changed("five", `"result":"done","to":"contacted"`) }},
		{"second return request", `cannot become returned (result waits, return "refused")`, func(f *forgedEvidence) { f.changed("four", `"result":"waits","to":"returned"`) }},
		{"second decision", "but none is pending (approved)", func(f *forgedEvidence) {
			f.changed("two", `"result":"done","to":"returned","waited":true,"credit":5,"reverse":4`)
		}},
		{"it was refused and paid", "is refused, but credit 5 and reversal 4 are booked", func(f *forgedEvidence) {
			f.changed("five", `"result":"refused","to":"returned","waited":true,"credit":5,"reverse":4`)
		}},
		{"it gives back too much", `lead five, sold at 5, statuses ["returned"]: credit 6 and reversal 4 are wrong`, func(f *forgedEvidence) {
			f.changed("five", `"result":"done","to":"returned","waited":true,"credit":6,"reverse":4`)
		}},
		{"lost return decision", "return approved, lead five was acknowledged, but is not in the log", func(f *forgedEvidence) {
			f.acknowledged = append(f.acknowledged, operatorAction{"return approved, lead", "five"})
		}},
	})
}
