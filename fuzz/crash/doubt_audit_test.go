//go:build unix

package crash

import (
	"fmt"
	"strings"

	"pingpost/exchange/explain"
	"pingpost/fuzz/witness"
)

// audit waits until all deliveries are settled, and checks each cell.
func (d *doubts) audit() {
	witness.Await(d.t, "no delivery is attempted any more", func() bool {
		var pending struct {
			Total int `json:"total"`
		}
		d.AdminGet("/admin/v1/deliveries?state=pending", &pending)
		return pending.Total == 0
	})
	atNext := map[string]bool{}
	for _, lead := range d.next.Leads() {
		atNext[lead.LeadUUID] = true
	}
	for _, c := range d.cells {
		lead, sends := c.uncertainLead()
		var explained explain.Explanation
		d.AdminGet("/admin/v1/explain/"+lead, &explained)
		fault := d.fault(c, sends, &explained)
		if atNext[lead] {
			fault = "a second buyer has the lead"
		}
		if fault != "" {
			d.t.Errorf("%s, then %s, kept=%v, by %s, idempotent=%v: %s\n%d sends; %+v; answer %s",
				c.first, c.repeat, c.kept, c.way, c.idempotent, fault, len(sends), explained, c.answer)
		}
	}
}

// allSends is the number of sends in the whole schedule.
const allSends = 6

// fault describes the fault of a cell, or returns "".
func (d *doubts) fault(c *cell, sends []string, told *explain.Explanation) string {
	want, logged := "ACCEPTED unknown "+c.name, len(sends)
	switch {
	case c.idempotent:
		want = "UNMATCHED failed "
	case c.repeat == "201":
		want = "ACCEPTED delivered " + c.name
	case len(sends) < allSends:
		return "the retries ended early"
	}
	switch {
	case len(told.Posts) != 1 || told.Posts[0].Buyer != c.name:
		return "the lead was not with its first buyer alone"
	case strings.TrimSpace(told.Status+" "+told.Delivery+" "+told.Buyer) != strings.TrimSpace(want):
		return "its status is not " + want
	}
	for _, send := range sends {
		if send != sends[0] {
			return "the sends differ"
		}
	}
	ended := 0
	for _, settlement := range told.Posts[0].Settlements {
		if settlement.Outcome != "pending" {
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
		return "its supplier is answered " + again
	}
	return ""
}
