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

// recordPlainAndContactFields writes the lead's values into the event. Personal values go into the
// event's contact part, which is encrypted and can be erased. A text that contains a personal value
// goes there too.
func (in *leadSaleWorkspace) recordPlainAndContactFields() {
	mapping := in.live.Campaign.Mapping
	in.contact.Fields = in.contact.Fields[:0]
	in.person.Reset()
	for slot := range in.lead.Values {
		value := &in.lead.Values[slot]
		if value.Kind != market.KindAbsent && mapping.IsPersonalData(market.LeadFieldIndex(slot)) {
			in.recordContactField(mapping.FieldNameFromSuppliers(market.LeadFieldIndex(slot)), value)
		}
	}
	for i := range in.lead.Extras {
		in.recordContactField(string(in.lead.Extras[i].Name), &in.lead.Extras[i].Value)
	}
	for slot := range in.lead.Values {
		value, name := &in.lead.Values[slot], mapping.FieldNameInLog(market.LeadFieldIndex(slot))
		switch {
		case value.Kind == market.KindAbsent || mapping.IsPersonalData(market.LeadFieldIndex(slot)):
		case value.Kind == market.KindString && in.person.ContactFoundIn(value.Text):
			in.contact.Fields = append(in.contact.Fields, event.LeadField{Name: name, Kind: value.Kind, Text: value.Text})
		default:
			in.record.Fields = append(in.record.Fields, event.LeadField{Name: name, Kind: value.Kind, Text: value.Text})
		}
	}
}

func (in *leadSaleWorkspace) recordContactField(name string, value *market.FieldValue) {
	in.contact.Fields = append(in.contact.Fields, event.LeadField{Name: name, Kind: value.Kind, Text: value.Text})
	in.person.Add(name, value.Text)
}

// recordOutcomesAndBids writes the outcome of each filter set into the lead's event, and also
// the bids if an auction was held.
func (in *leadSaleWorkspace) recordOutcomesAndBids() {
	in.record.Trail = in.appendCandidateOutcomes(in.record.Trail[:0])
	if a := &in.auction; a.IsPrepared() {
		held := &in.record.Auction
		held.ID, held.Began, held.Deadline = a.ID, a.Began, a.Deadline
		held.Bids = a.AppendBidsWithOutcomes(held.Bids[:0])
	}
}

// appendCandidateOutcomes appends the lead's present outcomes to trail, each with its filter
// sets. After an auction, filter sets with a valid bid that was not used get OutcomeLost.
func (in *leadSaleWorkspace) appendCandidateOutcomes(trail []event.FilterSetsWithOutcome) []event.FilterSetsWithOutcome {
	if in.auction.IsPrepared() {
		return appendAuctionFilterSetOutcomes(trail, &in.candidates)
	}
	return appendFilterSetsByOutcome(trail, &in.candidates)
}

func appendFilterSetsByOutcome(outcomes []event.FilterSetsWithOutcome, candidates *selection.Candidates) []event.FilterSetsWithOutcome {
	candidates.EachOutcomeInUse(func(outcome market.BuyerOutcome, filterSets bitset.Set) {
		outcomes = append(outcomes, event.FilterSetsWithOutcome{Outcome: outcome, FilterSets: filterSets})
	})
	return outcomes
}

// takeEncryptionKey takes a prepared key to encrypt the lead's contact data, or returns ErrBusy if no
// key is prepared. It runs before the lead reserves caps and funds, so that no other request waits for
// a lead without a key.
func (in *leadSaleWorkspace) takeEncryptionKey() (err error) {
	in.keySlot, err = in.engine.opt.Sealer.TakeUnusedKey(&in.key)
	return err
}

// encryptContactAndBuyerPostIntoEvent encrypts the lead's contact part into the event. postBodyOrNil is the
// post's body, or nil without a post; a restart needs it to continue the delivery.
func (in *leadSaleWorkspace) encryptContactAndBuyerPostIntoEvent(postBodyOrNil []byte) {
	in.contact.Body = postBodyOrNil
	in.plain = in.contact.AppendEncoded(in.plain[:0])
	in.record.Slot = in.keySlot
	in.record.Sealed = in.engine.opt.Sealer.Seal(in.record.Sealed[:0], in.keySlot, &in.key, in.id, in.plain)
}

// appendEncryptedPostBody encrypts the body of a post to a later buyer, and appends it to dst. The
// result has no contact fields, because the first event of the lead has them.
func (in *leadSaleWorkspace) appendEncryptedPostBody(dst, postBody []byte) []byte {
	next := event.LeadPersonalData{Body: postBody}
	in.plain = next.AppendEncoded(in.plain[:0])
	return in.engine.opt.Sealer.Seal(dst, in.keySlot, &in.key, in.id, in.plain)
}

// decryptContactPart decrypts a lead's contact part with the key in the slot. Slot 0 means that
// the part is plaintext, from log versions before encryption. The error is ErrErased, or comes
// from reading the keys or decoding.
func (e *Engine) decryptContactPart(keySlot uint64, lead market.LeadID, encrypted []byte) (contact event.LeadPersonalData, err error) {
	if keySlot != 0 {
		if encrypted, err = e.opt.Sealer.Open(nil, keySlot, lead, encrypted); err != nil {
			return contact, err
		}
	}
	if err := contact.Decode(encrypted); err != nil {
		return contact, fmt.Errorf("log record of lead %s: cannot decode the contact part: %w", lead, err)
	}
	return contact, nil
}

// DecryptContact decrypts the contact data in a lead's first event. The error is ErrErased if
// the lead was erased; otherwise it comes from reading the keys or decoding.
func (e *Engine) DecryptContact(decided *event.LeadDecided) (event.LeadPersonalData, error) {
	return e.decryptContactPart(decided.Slot, decided.Lead, decided.Sealed)
}

// decryptOpenPostContact decrypts the contact part of an open post, for its next attempt. readable
// is false if the part is erased or unreadable. Then no attempt is possible, and an operator
// decides, as for a delivery without attempts left.
func (e *Engine) decryptOpenPostContact(post *state.UnfinishedPost) (contact event.LeadPersonalData, readable bool) {
	if post.IsPersonalDataErased() {
		return contact, false
	}
	contact, err := e.decryptContactPart(post.Slot, post.Lead, post.Body)
	if err != nil && !errors.Is(err, ErrErased) {
		e.opt.Observer.ReportFault("cannot decrypt the lead of an open delivery; the delivery is unconfirmed until an operator resolves it", err)
	}
	return contact, err == nil
}

// readContactFieldsOrNil reads a lead's contact fields from its first event in the log. It returns
// nil if memory no longer has the lead, the log's history no longer has the event, or the fields
// are erased or unreadable.
func (e *Engine) readContactFieldsOrNil(id market.LeadID) []event.LeadField {
	lead, ok, err := e.findLead(id)
	if err != nil || !ok {
		return nil
	}
	decided, err := e.log.ReadDecisionIfKept(&lead, e.opt.Clock.Now()+int64(e.opt.Ceiling))
	if err != nil || decided == nil {
		return nil
	}
	contact, err := e.DecryptContact(decided)
	if err != nil {
		return nil
	}
	return contact.Fields
}
