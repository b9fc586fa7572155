package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// takeKey takes the key that the lead is sealed with: before anything is reserved, so
// that nobody waits for a lead that waits for a key.
func (in *ingest) takeKey() (err error) {
	in.slot, err = in.engine.opt.Sealer.Take(&in.key)
	return err
}

// seal writes the contact part, with the body that is posted, if any.
func (in *ingest) seal(body []byte) {
	in.contact.Body = body
	in.plain = in.contact.AppendTo(in.plain[:0])
	in.fact.Slot = in.slot
	in.fact.Sealed = in.engine.opt.Sealer.Seal(in.fact.Sealed[:0], in.slot, &in.key, in.id, in.plain)
}

// sealBody appends the contact part of a next intent to dst: the first one has the
// fields.
func (in *ingest) sealBody(dst, body []byte) []byte {
	next := event.Contact{Body: body}
	in.plain = next.AppendTo(in.plain[:0])
	return in.engine.opt.Sealer.Seal(dst, in.slot, &in.key, in.id, in.plain)
}

// contactOf opens a contact part. In logs of a time before it lies open, under slot 0.
// The error is ErrErased, or of the keys.
func (e *Engine) contactOf(slot uint64, lead market.LeadID, sealed []byte) (contact event.Contact, err error) {
	if slot != 0 {
		if sealed, err = e.opt.Sealer.Open(nil, slot, lead, sealed); err != nil {
			return contact, err
		}
	}
	if err := contact.Decode(sealed); err != nil {
		return contact, fmt.Errorf("the contact part of lead %s is none: %w", lead, err)
	}
	return contact, nil
}

// Contact opens the contact part of a lead's fact. The error is ErrErased, or of the
// keys.
func (e *Engine) Contact(fact *event.LeadDecided) (event.Contact, error) {
	return e.contactOf(fact.Slot, fact.Lead, fact.Sealed)
}

// open opens what the intent is to send; false: nobody knows any more what that was.
// Then an operator has the word, as about every post that no try is left for.
func (c *courier) open(post *state.OpenPost) bool {
	c.body = nil
	contact, err := event.Contact{}, ErrErased
	if !post.IsErased() {
		contact, err = c.engine.contactOf(post.Slot, post.Lead, post.Body)
	}
	switch {
	case errors.Is(err, ErrErased):
		return false
	case err != nil:
		c.engine.opt.Note.Fault("what is to be posted cannot be opened; the delivery waits for an operator", err)
		return false
	}
	c.body = contact.Body
	if len(contact.Fields) > 0 {
		c.person = contact.Fields
	}
	return true
}

// Withheld stands for a text of others that repeats who the lead is.
const Withheld = "(withheld: it repeats contact data)"

// discreet takes out of a buyer's answer what repeats who the lead is. It is taken
// down as it is told and logged, so that all of it is the same ever after. An id of
// that kind is no id.
func (c *courier) discreet(result *market.PostResult) {
	if result.Code == "" && result.BuyerLeadID == "" {
		return
	}
	var person Person
	for _, field := range c.who() {
		person.Add(field.Name, field.Text)
	}
	if person.In([]byte(result.Code)) {
		result.Code = Withheld
	}
	if person.In([]byte(result.BuyerLeadID)) {
		result.BuyerLeadID = ""
	}
}

// who are the fields that tell who the lead is. After a restart the intent to a later
// buyer has the body alone; they are in the lead's own fact.
func (c *courier) who() []event.Field {
	if c.person != nil {
		return c.person
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
	c.person = contact.Fields
	return c.person
}
