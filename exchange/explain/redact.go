package explain

import (
	"encoding/json"
	"errors"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/exclusion"
	"pingpost/engine/redaction"
)

// The explained fields contain no contact data. Free texts of others may repeat it: a
// buyer's refusal code, its id of the lead, a seller's id of the auction. So this file
// compares each such text with the lead's contact part. Most texts were already compared
// before they were logged.

// withheld replaces a text that repeats contact data. erased replaces a text that might
// repeat it, if the person was erased or the contact data cannot be decrypted.
const (
	withheld = redaction.Withheld
	erased   = "(withheld: the person was erased, or the contact data cannot be decrypted)"
)

// redactTextsWithContactData replaces every free text that repeats a lead's contact data, in the
// explanations doc. If the person was erased, or the contact data cannot be decrypted, it replaces all
// texts of buyers and sellers, because it cannot compare them. It leaves buyers' codes of failed
// attempts unchanged; the exchange compared these before it logged them.
func (e *Explainer) redactTextsWithContactData(decision *logEntry, doc ...*Explanation) {
	contact, err := e.Contact(decision.mustBeLeadDecided())
	person := contactData{unknown: err != nil}
	for i := range contact.Fields {
		person.is.Add(contact.Fields[i].Name, contact.Fields[i].Text)
	}
	for _, one := range doc {
		if errors.Is(err, engine.ErrErased) && !one.Erased {
			one.Erased = true
			one.Notes = append(one.Notes, "The person was erased, so free texts of buyers and sellers are withheld.")
		}
		person.redactExplanation(one)
		if one.Auction != nil {
			person.redactExplanation(one.Auction)
		}
	}
}

// contactData holds the contact data of a lead, with which free texts are compared. unknown is
// set if the data was erased or cannot be decrypted.
type contactData struct {
	is      redaction.ContactMatcher
	unknown bool
}

func (p *contactData) redactExplanation(doc *Explanation) {
	p.redactTextUnlessContactFree(&doc.SellerID)
	p.redactRule(doc.Rule)
	for i := range doc.Candidates {
		p.redactTextUnlessContactFree(&doc.Candidates[i].Reason)
		p.redactRule(doc.Candidates[i].Rule)
	}
	for i := range doc.Posts {
		for j := range doc.Posts[i].Settlements {
			settlement := &doc.Posts[i].Settlements[j]
			if settlement.Outcome != event.SettledDelivered.String() { // its code is not of the buyer
				p.redactTextUnlessContactFree(&settlement.Code)
			}
			p.redactTextUnlessContactFree(&settlement.BuyerLead)
		}
	}
	doc.recomputeRedactedPostRules()
	for name, value := range doc.Fields {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if p.is.ContactFoundIn([]byte(text)) {
			doc.Fields[name] = json.RawMessage(`"` + withheld + `"`)
		}
	}
	if doc.LeadID != "" {
		doc.Why = summarizeLead(doc)
	}
}

// redactRule replaces the values of a rule if its text repeats contact data. A ping's rules were
// computed without the contact data, which only the lead has.
func (p *contactData) redactRule(rule *exclusion.UnmetRule) {
	if rule == nil || rule.Kind != exclusion.KindFilter || !p.is.ContactFoundIn([]byte(rule.Text)) {
		return
	}
	masked := exclusion.Masked
	rule.Wanted, rule.Actual, rule.Text = masked, &masked, rule.Field+": required "+masked+", got "+masked
}

func (p *contactData) redactTextUnlessContactFree(text *string) {
	switch {
	case *text == "":
	case p.unknown:
		*text = erased
	case p.is.ContactFoundIn([]byte(*text)):
		*text = withheld
	}
}
