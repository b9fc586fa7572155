package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// recordFields writes the lead's values into the event. Personal values, and other values
// that repeat one of them, go into the contact part, which is encrypted.
func (in *ingest) recordFields() {
	mapping := in.live.Campaign.Mapping
	in.contact.Fields = in.contact.Fields[:0]
	in.person.Reset()
	for slot := range in.lead.Values {
		value := &in.lead.Values[slot]
		if value.Kind != market.KindAbsent && mapping.IsPersonal(market.Slot(slot)) {
			in.recordPersonal(mapping.ArrivalName(market.Slot(slot)), value)
		}
	}
	for i := range in.lead.Extras {
		in.recordPersonal(string(in.lead.Extras[i].Name), &in.lead.Extras[i].Value)
	}
	for slot := range in.lead.Values {
		value, name := &in.lead.Values[slot], mapping.LogName(market.Slot(slot))
		switch {
		case value.Kind == market.KindAbsent || mapping.IsPersonal(market.Slot(slot)):
		case value.Kind == market.KindString && in.person.IsIn(value.Text):
			in.contact.Fields = append(in.contact.Fields, event.Field{Name: name, Kind: value.Kind, Text: value.Text})
		default:
			in.record.Fields = append(in.record.Fields, event.Field{Name: name, Kind: value.Kind, Text: value.Text})
		}
	}
}

func (in *ingest) recordPersonal(name string, value *market.Value) {
	in.contact.Fields = append(in.contact.Fields, event.Field{Name: name, Kind: value.Kind, Text: value.Text})
	in.person.Add(name, value.Text)
}

// recordTrail writes the outcome and the bid of each candidate into the event.
func (in *ingest) recordTrail() {
	in.record.Trail = appendTrail(in.record.Trail[:0], in)
	if a := &in.auction; a.IsHeld() {
		held := &in.record.Auction
		held.ID, held.Began, held.Deadline = a.ID, a.Began, a.Deadline
		held.Bids = a.AppendBids(held.Bids[:0])
	}
}

func appendTrail(trail []event.OutcomeFilterSets, in *ingest) []event.OutcomeFilterSets {
	if in.auction.IsHeld() {
		return appendAuctionTrail(trail, &in.candidates)
	}
	return appendSteps(trail, &in.candidates)
}

func appendSteps(trail []event.OutcomeFilterSets, candidates *selection.Candidates) []event.OutcomeFilterSets {
	candidates.EachOutcomeInUse(func(outcome market.Outcome, seats bitset.Set) {
		trail = append(trail, event.OutcomeFilterSets{Outcome: outcome, FilterSets: seats})
	})
	return trail
}

// takeLeadKey takes the key that encrypts the lead's contact data. It runs before anything is
// reserved, so that no request waits for a lead that waits for a key.
func (in *ingest) takeLeadKey() (err error) {
	in.keySlot, err = in.engine.opt.Sealer.Take(&in.key)
	return err
}

// seal encrypts the contact part, with the body of the post if there is one, into the event.
func (in *ingest) seal(body []byte) {
	in.contact.Body = body
	in.plain = in.contact.AppendTo(in.plain[:0])
	in.record.Slot = in.keySlot
	in.record.Sealed = in.engine.opt.Sealer.Seal(in.record.Sealed[:0], in.keySlot, &in.key, in.id, in.plain)
}

// sealBody appends the encrypted contact part of a later intent to dst. It has the body alone;
// the first intent has the fields.
func (in *ingest) sealBody(dst, body []byte) []byte {
	next := event.ContactPart{Body: body}
	in.plain = next.AppendTo(in.plain[:0])
	return in.engine.opt.Sealer.Seal(dst, in.keySlot, &in.key, in.id, in.plain)
}

// contactOf decrypts a contact part. Slot 0 means plaintext: log versions before encryption.
// The error is ErrErased, or comes from the keys.
func (e *Engine) contactOf(slot uint64, lead market.LeadID, sealed []byte) (contact event.ContactPart, err error) {
	if slot != 0 {
		if sealed, err = e.opt.Sealer.Open(nil, slot, lead, sealed); err != nil {
			return contact, err
		}
	}
	if err := contact.Decode(sealed); err != nil {
		return contact, fmt.Errorf("log record of lead %s: cannot decode the contact part: %w", lead, err)
	}
	return contact, nil
}

// Contact decrypts the contact part of a lead's event. The error is ErrErased, or comes from
// the keys.
func (e *Engine) Contact(decided *event.LeadDecided) (event.ContactPart, error) {
	return e.contactOf(decided.Slot, decided.Lead, decided.Sealed)
}

// decryptIntent decrypts the body and the fields of the intent. It returns false if they are erased or
// unreadable: then an operator decides, as for every delivery without attempts left.
func (c *delivery) decryptIntent(post *state.OpenPost) bool {
	c.body = nil
	contact, err := event.ContactPart{}, ErrErased
	if !post.IsContactErased() {
		contact, err = c.engine.contactOf(post.Slot, post.Lead, post.Body)
	}
	switch {
	case errors.Is(err, ErrErased):
		return false
	case err != nil:
		c.engine.opt.Observer.ReportFault("cannot decrypt the lead of an open delivery; the delivery is unconfirmed until an operator resolves it", err)
		return false
	}
	c.body = contact.Body
	if len(contact.Fields) > 0 {
		c.knownContact = contact.Fields
	}
	return true
}

// Withheld replaces a buyer's text that repeats contact data of the lead.
const Withheld = "(withheld: it repeats contact data)"

// redact removes contact data of the lead from a buyer's answer, before the answer is used,
// logged or reported. An id with contact data becomes empty.
func (c *delivery) redact(result *market.PostResult) {
	if result.Code == "" && result.BuyerLeadID == "" {
		return
	}
	var person Person
	for _, field := range c.contactFields() {
		person.Add(field.Name, field.Text)
	}
	if person.IsIn([]byte(result.Code)) {
		result.Code = Withheld
	}
	if person.IsIn([]byte(result.BuyerLeadID)) {
		result.BuyerLeadID = ""
	}
}

// contactFields returns the lead's contact fields. After a restart, the intent for a later
// buyer has the body alone, and the fields are in the lead's first event.
func (c *delivery) contactFields() []event.Field {
	if c.knownContact != nil {
		return c.knownContact
	}
	lead, ok := c.engine.state.Lead(c.lead)
	if !ok {
		return nil
	}
	decided, err := c.engine.log.ReadDecision(&lead, c.engine.opt.Clock.Now()+int64(c.engine.opt.Ceiling))
	if err != nil || decided == nil {
		return nil
	}
	contact, err := c.engine.Contact(decided)
	if err != nil {
		return nil
	}
	c.knownContact = contact.Fields
	return c.knownContact
}
