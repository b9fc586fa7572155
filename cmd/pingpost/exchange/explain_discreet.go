package exchange

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
func (e *explainer) discreet(found *entry, told ...*Explanation) {
	contact, err := e.contact(found.lead())
	person := person{nobody: err != nil}
	for i := range contact.Fields {
		person.is.Add(contact.Fields[i].Name, contact.Fields[i].Text)
	}
	for _, one := range told {
		if errors.Is(err, engine.ErrErased) && !one.Erased {
			one.Erased = true
			one.Notes = append(one.Notes, "The person was erased; what others could choose freely is withheld.")
		}
		person.withhold(one)
		if one.Auction != nil {
			person.withhold(one.Auction)
		}
	}
}

// person is who a lead is, or nobody known.
type person struct {
	is     engine.Person
	nobody bool
}

func (p *person) withhold(told *Explanation) {
	p.cover(&told.SellerID)
	for i := range told.Candidates {
		p.cover(&told.Candidates[i].Reason)
	}
	for i := range told.Posts {
		for j := range told.Posts[i].Settlements {
			settlement := &told.Posts[i].Settlements[j]
			p.cover(&settlement.Code)
			p.cover(&settlement.BuyerLead)
		}
	}
	for name, value := range told.Fields {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if p.is.In([]byte(text)) {
			told.Fields[name] = json.RawMessage(`"` + withheld + `"`)
		}
	}
	if told.LeadID != "" {
		told.Why = whyLead(told)
	}
}

func (p *person) cover(text *string) {
	switch {
	case *text == "":
	case p.nobody:
		*text = erased
	case p.is.In([]byte(*text)):
		*text = withheld
	}
}
