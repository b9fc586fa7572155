package witness

import (
	"fmt"
	"testing"
)

// asking is the honest world, where returns wait: one was approved, one was refused and
// one waits.
func asking() *forged {
	f := honest()
	f.terms.campaigns[0].manual = true
	f.terms.caps[2].count, f.terms.caps[0].count = 9, 9
	f.terms.buyer("rec").balance = 30 * unit
	f.log("funds_moved", `"buyer":2,"amount":"10","opening":false`)
	f.sold("four", "rec")
	f.sold("five", "rec")
	f.funds["rec"] = account{Balance: balance(10 * unit)}
	for _, lead := range []string{"two", "four", "five"} {
		f.changed(lead, `"result":"waits","to":"returned"`)
		said := f.reportedOn(lead, "ACCEPTED")
		said.reports[0].Return = "waiting"
		f.reports = append(f.reports, said)
	}
	f.changed("two", `"result":"done","to":"returned","waited":true,"credit":5,"reverse":4`)
	f.changed("four", `"result":"refused","to":"returned","waited":true`)
	f.ruled = []ruling{{"two", "return approved"}, {"four", "return refused"}}
	return f
}

func (f *forged) changed(lead, rest string) {
	f.log("status_changed", fmt.Sprintf(`"buyer":2,"changes":[{"lead":%q,"from":"ACCEPTED",%s}]`, lead, rest))
}

func TestAuditOfWaitingReturnsHonest(t *testing.T) {
	if found := asking().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
}

func TestAuditOfWaitingReturnsSees(t *testing.T) {
	foundOut(t, asking, []lie{
		{"it was asked for, and that is lost", "that lead three became ACCEPTED was acknowledged and is lost", func(f *forged) {
			said := f.reportedOn("three", "ACCEPTED")
			said.reports[0].Return = "waiting"
			f.reports = append(f.reports, said)
		}},
		{"it was taken at once", `lead two became ["returned"], and then returned (done, approved)`, func(f *forged) {
			f.changed("two", `"result":"done","to":"returned","credit":5,"reverse":4`)
		}},
		{"it was taken without a word", "and then returned (done, ", func(f *forged) {
			f.sold("six", "rec")
			f.changed("six", `"result":"done","to":"returned","credit":5,"reverse":4`)
		}},
		{"it moved while it waited", "and then contacted (done, waiting)", func(f *forged) { f.changed("five", `"result":"done","to":"contacted"`) }},
		{"it was asked for again", "and then returned (waits, refused)", func(f *forged) { f.changed("four", `"result":"waits","to":"returned"`) }},
		{"it was decided twice", "of which none waits (approved)", func(f *forged) {
			f.changed("two", `"result":"done","to":"returned","waited":true,"credit":5,"reverse":4`)
		}},
		{"it was refused and paid", "is refused, and 5 and 4 are given back", func(f *forged) {
			f.changed("five", `"result":"refused","to":"returned","waited":true,"credit":5,"reverse":4`)
		}},
		{"it gives back too much", `lead five, sold at 5, became ["returned"]: 6 and 4 are given back`, func(f *forged) {
			f.changed("five", `"result":"done","to":"returned","waited":true,"credit":6,"reverse":4`)
		}},
		{"the word is lost", "that lead five was return approved by the operator was acknowledged and is lost", func(f *forged) {
			f.ruled = append(f.ruled, ruling{"five", "return approved"})
		}},
	})
}
