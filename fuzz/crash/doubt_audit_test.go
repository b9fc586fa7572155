//go:build unix

package crash

import (
	"fmt"
	"strings"

	"pingpost/fuzz/witness"
)

// explained holds the audited members of an explanation.
type explained struct {
	Status   string `json:"status"`
	Delivery string `json:"delivery"`
	Buyer    string `json:"buyer_id"`
	Posts    []struct {
		Buyer string `json:"buyer_id"`
		Tries []struct {
			Attempt int    `json:"attempt"`
			Verdict string `json:"verdict"`
		} `json:"tries"`
		Settlements []struct {
			Came string `json:"settlement"`
		} `json:"settlements"`
	} `json:"posts"`
}

// audit waits until all deliveries are settled, and prints the table.
func (d *doubts) audit() {
	witness.Await(d.t, "no delivery is tried any more", func() bool {
		var pending struct {
			Total int `json:"total"`
		}
		d.AdminGet("/admin/v1/deliveries?state=pending", &pending)
		return pending.Total == 0
	})
	twice, table := 0, map[string]int{}
	for _, c := range d.cells {
		lead, sends := c.uncertainLead()
		var told explained
		d.AdminGet("/admin/v1/explain/"+lead, &told)
		if fault := d.fault(c, lead, sends, &told); fault != "" {
			d.t.Errorf("%s, then %s, kept=%v, by %s, certain=%v: %s\n%d sends; %+v; answer %s",
				c.first, c.repeat, c.kept, c.way, c.idempotent, fault, len(sends), told, c.answer)
		}
		if d.next.has(lead) {
			twice++
			table[c.first+c.repeat]++
		}
	}
	text := fmt.Sprintf("\nleads at two buyers, of 8 for each combination (fresh and kept; %s)\n%-20s", strings.Join(ways, ", "), "")
	for _, repeat := range repeats {
		text += fmt.Sprintf("%16s", repeat)
	}
	for _, first := range firstOutcomes {
		text += fmt.Sprintf("\n%-20s", first)
		for _, repeat := range repeats {
			text += fmt.Sprintf("%16d", table[first+repeat])
		}
	}
	d.t.Logf("%s\n%d of %d leads in doubt reached a second buyer", text, twice, len(d.cells))
}

// allSends is the number of sends in the whole schedule.
const allSends = 6

// fault describes the fault of a cell, or returns "".
func (d *doubts) fault(c *cell, lead string, sends []string, told *explained) string {
	stands, logged := "ACCEPTED unknown "+c.name, len(sends)
	switch {
	case c.idempotent:
		stands = "UNMATCHED failed "
	case c.repeat == "201":
		stands = "ACCEPTED delivered " + c.name
	case len(sends) < allSends:
		return "the retries ended early"
	}
	switch {
	case d.next.has(lead):
		return "a second buyer has the lead"
	case len(told.Posts) != 1 || told.Posts[0].Buyer != c.name:
		return "the lead was not with its first buyer alone"
	case strings.TrimSpace(told.Status+" "+told.Delivery+" "+told.Buyer) != strings.TrimSpace(stands):
		return "it does not stand as " + stands
	}
	for _, send := range sends {
		if send != sends[0] {
			return "the sends differ"
		}
	}
	ended := 0
	for _, settlement := range told.Posts[0].Settlements {
		if settlement.Came != "pending" {
			ended++
		}
	}
	if c.way == byRecovery {
		logged = max(logged-1, len(told.Posts[0].Tries)+ended) // the kill may precede the first log entry
	}
	if tries := len(told.Posts[0].Tries); tries+ended != logged {
		return fmt.Sprintf("explain has %d sends", tries+ended)
	}
	return d.answerFault(c)
}

// answerFault describes the fault of the answers to the supplier: the first one, and the one to
// the same request now.
func (d *doubts) answerFault(c *cell) string {
	sold, path := `"status":"ACCEPTED"`, "/api/v1/ingest"
	if c.way == byPost {
		path = "/v1/post"
	}
	again := d.call(c, path)
	switch {
	case c.way == byPost && c.idempotent:
		sold = `"error":"post_rejected"`
	case c.way == byPost && c.repeat != "201":
		sold = `"error":"buyer_`
	case c.idempotent && c.way != byRecovery:
		sold = `"status":"UNMATCHED"`
	}
	if c.way == byPost && c.repeat == "201" && strings.HasPrefix(c.answer, "50") {
		c.answer = again // the buyer accepted the lead after the answer was due
	}
	if c.way != byRecovery && !strings.Contains(c.answer, sold) || !strings.Contains(again, sold) {
		return "its supplier hears: " + again
	}
	return ""
}
