//go:build unix

package crash

import (
	"fmt"
	"strings"

	"pingpost/fuzz/witness"
)

// explained is as much of an explanation as is audited here.
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

// audit waits until every delivery has come to its end, and prints the table.
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
		lead, sends := c.inDoubt()
		var told explained
		d.AdminGet("/admin/v1/explain/"+lead, &told)
		if fault := d.fault(c, lead, sends, &told); fault != "" {
			d.t.Errorf("%s, then %s, kept=%v, by %s, certain=%v: %s\n%d sends; %+v; heard %s",
				c.first, c.repeat, c.kept, c.way, c.certain, fault, len(sends), told, c.heard)
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

// allSends are those of the whole schedule.
const allSends = 6

// fault says how a cell went wrong; empty: it did not.
func (d *doubts) fault(c *cell, lead string, sends []string, told *explained) string {
	stands, logged := "ACCEPTED unknown "+c.name, len(sends)
	switch {
	case c.certain:
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
		logged = max(logged-1, len(told.Posts[0].Tries)+ended) // the kill may have come before the log had the first
	}
	if tries := len(told.Posts[0].Tries); tries+ended != logged {
		return fmt.Sprintf("explain has %d sends", tries+ended)
	}
	return d.answered(c)
}

// answered says how the answers to the supplier went wrong: the first one, and the one
// to the same request now.
func (d *doubts) answered(c *cell) string {
	sold, path := `"status":"ACCEPTED"`, "/api/v1/ingest"
	if c.way == byPost {
		path = "/v1/post"
	}
	again := d.call(c, path)
	switch {
	case c.way == byPost && c.certain:
		sold = `"error":"post_rejected"`
	case c.way == byPost && c.repeat != "201":
		sold = `"error":"buyer_`
	case c.certain && c.way != byRecovery:
		sold = `"status":"UNMATCHED"`
	}
	if c.way == byPost && c.repeat == "201" && strings.HasPrefix(c.heard, "50") {
		c.heard = again // the buyer took it after the answer was due
	}
	if c.way != byRecovery && !strings.Contains(c.heard, sold) || !strings.Contains(again, sold) {
		return "its supplier hears: " + again
	}
	return ""
}
