package explain

import (
	"encoding/json"
	"errors"

	"pingpost/engine"
)

// Contact data is in no field that is told of. But what others wrote freely may
// repeat it: a buyer's word for a refusal, its id of the lead, a seller's id of
// the auction. So everything of that kind is held against the lead's contact part,
// once more: most of it was so before it was logged.

// withheld stands for a text that repeats contact data, erased for one that might, of
// a person who was erased.
const (
	withheld = engine.Withheld
	erased   = "(withheld: the person was erased)"
)

// discreet withholds what repeats the contact data of a lead, in all that is told
// with it. Where nobody knows the person any more, that is all that others chose; so
// it is where the contact part cannot be read.
func (e *Explainer) redact(found *entry, doc ...*Explanation) {
	contact, err := e.contact(found.lead())
	person := person{unknown: err != nil}
	for i := range contact.Fields {
		person.is.Add(contact.Fields[i].Name, contact.Fields[i].Text)
	}
	for _, one := range doc {
		if errors.Is(err, engine.ErrErased) && !one.Erased {
			one.Erased = true
			one.Notes = append(one.Notes, "The person was erased; what others could choose freely is withheld.")
		}
		person.redactExplanation(one)
		if one.Auction != nil {
			person.redactExplanation(one.Auction)
		}
	}
}

// person is who a lead is, or nobody known.
type person struct {
	is      engine.Person
	unknown bool
}

func (p *person) redactExplanation(doc *Explanation) {
	p.redactText(&doc.SellerID)
	for i := range doc.Candidates {
		p.redactText(&doc.Candidates[i].Reason)
	}
	for i := range doc.Posts {
		for j := range doc.Posts[i].Settlements {
			settlement := &doc.Posts[i].Settlements[j]
			p.redactText(&settlement.Code)
			p.redactText(&settlement.BuyerLead)
		}
	}
	for name, value := range doc.Fields {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if p.is.In([]byte(text)) {
			doc.Fields[name] = json.RawMessage(`"` + withheld + `"`)
		}
	}
	if doc.LeadID != "" {
		doc.Why = whyLead(doc)
	}
}

func (p *person) redactText(text *string) {
	switch {
	case *text == "":
	case p.unknown:
		*text = erased
	case p.is.In([]byte(*text)):
		*text = withheld
	}
}
