package instructions

import (
	"fmt"
	"strings"
)

func (d *Document) pingBlocks() []Block {
	blocks := []Block{
		paragraph("You can ask for the price before you send the person's data. Send no contact data in a ping: %s are rejected in it, at any depth and in any spelling, and so are common other names of such data. The exchange looks at names only. With an access token, a member of another name goes to the buyers.", strings.Join(d.contactFieldNames(), ", ")),
		{List: []string{
			fmt.Sprintf("With the API key: %s returns all bids, and an ingest with flo_ping_id and flo_buyer_id sells the lead at one of them.", pathAvailability),
			fmt.Sprintf("With an access token: %s returns the best bid, and %s sells the lead at it. Use a new auction_id for each lead. Post within 5 seconds after the ping: then the bid expires.", pathPing, pathPost),
		}},
	}
	if d.FindRequest(pathPing) == nil {
		blocks = append(blocks, paragraph("This campaign has no vertical, so %s cannot reach it. Use the API key.", pathPing))
	}
	return append(blocks, d.requestBlocks(d.Requests[indexOfAuctions:])...)
}

func (d *Document) contactFieldNames() (names []string) {
	for i := range d.Fields {
		if d.Fields[i].Contact {
			names = append(names, d.Fields[i].Name)
		}
	}
	return names
}

func (d *Document) answerBlocks() (blocks []Block) {
	for i := range d.Answers {
		a := &d.Answers[i]
		blocks = append(blocks, Block{Code: &Code{fmt.Sprintf("%s: status %d", a.Title, a.Status), "json", a.Body}}, Block{Text: a.Meaning})
	}
	return append(blocks, paragraph("Keep data.id and the header X-Request-Id: with them the operator finds the lead. New members can appear in answers, so ignore unknown ones."))
}

func (d *Document) errorBlocks() []Block {
	table := &Table{Head: []string{"Status", "error", "Retry automatically?", "What to do"}, Mono: []bool{false, true, false, false}}
	for _, c := range d.Codes {
		again := "no"
		if c.Retry {
			again = "yes"
		}
		table.Rows = append(table.Rows, []string{fmt.Sprint(c.Status), c.Code, again, c.Do})
	}
	return []Block{
		paragraph("Each error has a JSON body with error, message and request_id. Branch on the status and on error, not on message. Where the table says yes, your program can send the same request again after Retry-After, or after 1, 2, 4, 8 and 16 seconds."),
		{Table: table},
	}
}

func (d *Document) repeatBlocks() []Block {
	blocks := []Block{paragraph("Send the header Idempotency-Key with each lead: your own id of the lead, 1 to 255 visible ASCII characters. After a timeout or a lost connection, send the same bytes under the same key. The exchange then returns the first answer, with the header Idempotent-Replayed: true, and sells nothing twice. It keeps the answer for %s. The same key with another body is an error, so use a new key when you change a sample.", spellDuration(d.Retention[pathIngest]))}
	if d.Campaign.PingPost {
		blocks = append(blocks, paragraph("%s and %s need the header.", pathPing, pathPost))
	}
	if d.Duplicates.Window == "" {
		return append(blocks, paragraph("The campaign does not check for duplicate persons."))
	}
	match := "one of these fields"
	if d.Duplicates.All {
		match = "all of these fields"
	}
	owner := "the campaign"
	if d.Duplicates.Shared {
		owner = "this campaign or another one that shares the check"
	}
	return append(blocks, paragraph("A lead is a duplicate if %s accepted a lead with the same value in %s in the last %s: %s.", owner, match, spellDuration(d.Duplicates.Window), strings.Join(d.Duplicates.Fields, ", ")))
}

func (d *Document) limitBlocks() []Block {
	rows := [][]string{
		{"Leads a second", fmt.Sprint(d.Limits.IngestRate)},
		{"Size of all request bodies in a second", formatSize(d.Limits.ByteRate)},
		{"Size of one request body", formatSize(d.Limits.BodyBytes)},
	}
	if d.Campaign.PingPost {
		rows = append(rows, []string{"Pings a second", fmt.Sprint(d.Limits.PingRate)}, []string{"Open auctions at once", fmt.Sprint(d.Limits.ConcurrentAuctions)})
	}
	return []Block{
		{Table: &Table{Head: []string{"Limit", "Value"}, Rows: rows, Mono: []bool{false, false}}},
		paragraph("Above a rate the answer is 429 with Retry-After. If your credential is valid, the answer has X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset; a 401 has none of them. The exchange answers within 5 seconds after it has the whole request. Wait 10 seconds for an answer; then send the same request again under the same key. Reuse connections (keep-alive)."),
	}
}
