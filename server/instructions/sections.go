package instructions

import (
	"fmt"
	"strings"
)

// Section is a part of the instructions with a heading.
type Section struct {
	Title  string
	Blocks []Block
}

// Block is a paragraph, a list, a table or code. Exactly one of its fields is set.
type Block struct {
	Text  string
	List  []string
	Table *Table
	Code  *Code
}

// Table has one row of headings. Each row has as many cells. A cell of a column in Mono is code.
type Table struct {
	Head []string
	Rows [][]string
	Mono []bool
}

// Code is text that is shown as it is, with a caption.
type Code struct{ Caption, Language, Text string }

func paragraph(format string, args ...any) Block { return Block{Text: fmt.Sprintf(format, args...)} }

// Title returns the title of the document.
func (d *Document) Title() string {
	return "Posting instructions: " + d.Campaign.Name + " for " + d.Supplier.Name
}

// Sections returns the document as text for people, in the order of the first integration.
func (d *Document) Sections() []Section {
	sections := []Section{
		{"Address", d.addressBlocks()},
		{"Credential", d.credentialBlocks()},
		{"Test mode", d.testBlocks()},
		{"Send a lead", d.leadBlocks()},
		{"Fields", d.fieldBlocks()},
		{"Consent", d.consentBlocks()},
	}
	if d.Campaign.PingPost {
		sections = append(sections, Section{"Ping and post", d.pingBlocks()})
	}
	return append(sections,
		Section{"Answers", d.answerBlocks()},
		Section{"Errors", d.errorBlocks()},
		Section{"Repeats and duplicates", d.repeatBlocks()},
		Section{"Limits", d.limitBlocks()},
	)
}

func (d *Document) addressBlocks() []Block {
	blocks := []Block{{Table: &Table{Head: []string{"", ""}, Mono: []bool{false, true}, Rows: [][]string{
		{"Address", d.BaseURL}, {"Campaign", d.Campaign.ID}, {"Supplier", d.Supplier.ID}, {"Documentation", d.DocsURL},
	}}}}
	if !d.LinkEnds.IsZero() {
		blocks = append(blocks, paragraph("The link to this page works until %s. Ask the operator for a new one after that.", d.LinkEnds.UTC().Format("2 January 2006, 15:04 UTC")))
	}
	if !d.BaseURLSet {
		blocks = append(blocks, paragraph("This is the address on which the exchange listens. Ask the operator whether you reach it under another one."))
	}
	if d.Sandbox {
		blocks = append(blocks, paragraph("This exchange is a sandbox. It sells no leads, and its credentials are not those of production."))
	}
	return blocks
}

func (d *Document) credentialBlocks() []Block {
	keys := "You have no key yet: ask the operator for one."
	switch n := len(d.APIKeyHints); {
	case n == 1:
		keys = "You have one key. The exchange shows it only once; the operator can make a new one."
	case n > 1:
		keys = fmt.Sprintf("You have %d keys. The exchange shows a key only once; the operator can make a new one.", n)
	}
	key := paragraph("Send your API key in the header x-api-key of each request. %s Keep it on your server: never put it into a page or an app.", keys)
	if !d.Campaign.PingPost {
		return []Block{key}
	}
	clients := "You have no OAuth client yet: ask the operator for one."
	if len(d.Clients) > 0 {
		var names []string
		for _, c := range d.Clients {
			names = append(names, fmt.Sprintf("%s (scopes %s)", c.ID, strings.Join(c.Scopes, " ")))
		}
		clients = "Your clients: " + strings.Join(names, "; ") + "."
	}
	return []Block{key, paragraph("%s and %s need an access token instead. Get it from %s with the client credentials grant of OAuth 2.0, and send it as Authorization: Bearer. %s", pathPing, pathPost, pathToken, clients)}
}

func (d *Document) testBlocks() []Block {
	if d.Supplier.Test {
		return []Block{paragraph("All your leads are test leads at present: no real buyer gets them, and no money moves. The operator changes this when you go live. Each answer has the header %s: 1.", HeaderTest)}
	}
	return []Block{
		paragraph("Send the header %s: 1 to make a lead a test. The exchange checks it like any other and answers in the same way. No real buyer gets it, no money moves, and no cap counts it. The answer has the header too.", HeaderTest),
		paragraph("The samples below have this header. Remove it to go live. Another value than 0, 1, true or false is an error, so a misspelled test is never sold."),
	}
}

func (d *Document) leadBlocks() []Block {
	return append(d.requestBlocks(d.Requests[:indexOfAuctions]), paragraph("The status of a lead can change after the answer, for example when the buyer returns it. Webhooks tell you about changes; the documentation describes them."))
}

func (d *Document) requestBlocks(requests []SampleRequest) (blocks []Block) {
	for i := range requests {
		r := &requests[i]
		blocks = append(blocks, paragraph("%s: %s %s", r.Title, r.Method, r.URL), Block{Code: &Code{"With curl", "sh", r.Curl}})
		if r.Body != "" {
			blocks = append(blocks, Block{Code: &Code{"Body", "json", r.Body}})
		}
	}
	if !d.SampleFits {
		blocks = append(blocks, paragraph("The sample may be unsold: no made-up lead passes the filters of this campaign and of its buyers."))
	}
	return append(blocks, paragraph("The person in the samples is invented."))
}

func (d *Document) fieldBlocks() []Block {
	table := &Table{Head: []string{"Field", "Type", "Required", "Rule", "Example"}, Mono: []bool{true, false, false, false, true}}
	add := func(f *Field) {
		required, rule := "no", f.Rule
		if f.Required {
			required = "yes"
		}
		if f.Pattern != "" {
			rule += ": " + f.Pattern
		}
		if f.Default != nil {
			rule += "; default " + string(f.Default)
		}
		table.Rows = append(table.Rows, []string{f.Name, f.Type, required, rule, string(f.Example)})
	}
	for i := range d.Selectors {
		add(&d.Selectors[i])
	}
	for _, standard := range []bool{false, true} { // the campaign's own fields first
		for i := range d.Fields {
			if d.Fields[i].Standard == standard {
				add(&d.Fields[i])
			}
		}
	}
	return []Block{{Table: table}, paragraph("%s A text that is empty or only spaces counts as missing. Send numbers and booleans without quotes unless the rule says otherwise.", unknownSentences[d.Unknown])}
}

var unknownSentences = map[string]string{
	"drop":   "The exchange ignores other members.",
	"keep":   "The exchange passes other members on to the buyer.",
	"reject": "The exchange rejects a lead with other members.",
}

func (d *Document) consentBlocks() []Block {
	blocks := []Block{paragraph("Send tcpa_consent true only if the person agreed to be called. Send the proof with it: consent_text (the text that the person saw), consent_timestamp, ip_address, and consent_cert_url, the address of the certificate.")}
	if len(d.Consent.Sources) > 0 {
		blocks = append(blocks, paragraph("Leads with one of these values of source need consent_cert_url: %s.", strings.Join(d.Consent.Sources, ", ")))
	}
	if len(d.Consent.Hosts) > 0 {
		blocks = append(blocks, paragraph("A certificate must be at one of these hosts: %s.", strings.Join(d.Consent.Hosts, ", ")))
	}
	return blocks
}
