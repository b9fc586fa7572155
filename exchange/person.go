package exchange

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/market/format"
	"pingpost/report/projection"
	"pingpost/server/admin/person"
)

// personHasher computes the keyed hashes by which the report finds the leads of a person. Its key is
// derived from the exchange's key, which is not in the report. Without it, the report's file does not
// tell whether a phone number is in it: all phone numbers could be tried otherwise.
type personHasher struct{ key [32]byte }

func (x *Exchange) newPersonHasher() *personHasher {
	return &personHasher{x.vault.DeriveKey("person index")}
}

func (h *personHasher) phone(e164 []byte) projection.ContactHash      { return h.hash('p', e164) }
func (h *personHasher) email(lowerCase []byte) projection.ContactHash { return h.hash('e', lowerCase) }

// hash returns the first 16 bytes of the HMAC of a value. kind separates phone numbers from addresses.
func (h *personHasher) hash(kind byte, value []byte) projection.ContactHash {
	sum := fingerprint.HMAC(&h.key, append([]byte{kind}, value...))
	return projection.ContactHash(sum[:16])
}

// hashPhonesAndEmails returns the hashes of the contact fields that are a phone number or an e-mail address,
// each once, in the order of their bytes. An erasure by phone number or address matches the same fields.
//
// The number is not limited, because an operator must find a lead by each of its values. The largest
// body (limits.body, 64 KiB by default) has room for about 4,000 phone numbers of 16 bytes with a name.
// Their rows take about as much space in the report as the body takes in the log.
func (h *personHasher) hashPhonesAndEmails(fields []event.LeadField) (hashes []projection.ContactHash) {
	for i := range fields {
		text := bytes.TrimSpace(fields[i].Text)
		if phone, ok := format.AppendPhoneAsE164(nil, text); ok {
			hashes = append(hashes, h.phone(phone))
		} else if email, ok := person.NormalizeEmail(text); ok {
			hashes = append(hashes, h.email(email))
		}
	}
	slices.SortFunc(hashes, func(a, b projection.ContactHash) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(hashes)
}

// hashContact returns the hashes of a lead's contact data. It returns none for a lead that is erased, or
// whose key cannot be read.
func (x *Exchange) hashContact(h *personHasher, lead *event.LeadDecided) (nilIfUnreadable []projection.ContactHash) {
	contact, err := x.engineForReading().DecryptContact(lead)
	if err != nil {
		return nil
	}
	return h.hashPhonesAndEmails(contact.Fields)
}

// FindLeadsOfPerson returns one page of the leads of a person. It asks the report, and opens the
// contact data of each lead. So it never returns an erased lead, also while the report has not yet read
// the erasure. A lead with unreadable contact data is returned without these.
func (x *Exchange) FindLeadsOfPerson(query *person.Query) (*person.Page, error) {
	if err := x.Ready(); err != nil {
		return nil, err
	}
	h := x.newPersonHasher()
	hash := h.phone([]byte(query.Phone))
	if query.Email != "" {
		hash = h.email([]byte(query.Email))
	}
	page := &person.Page{Complete: x.Report().WaitBrieflyForNewestEntries(context.Background(), 0)}
	found, begins, err := x.Report().FindLeadsOfPerson(context.Background(), hash, query.After, query.Limit)
	if err != nil {
		return nil, err
	}
	page.Begins = begins
	for i := range found {
		contact, err := x.readContactIfKept(found[i].Seq, found[i].ID)
		if errors.Is(err, engine.ErrErased) {
			continue
		}
		page.Leads = append(page.Leads, person.Lead{FoundLead: found[i].FoundLead, Contact: contact})
	}
	if len(found) == query.Limit {
		page.Next = found[len(found)-1].ID
	}
	return page, nil
}

// readContactIfKept returns the contact data of the lead that the log decided at seq. It returns nil without
// an error if the log no longer has the entry, or the key cannot be read. The error is
// engine.ErrErased for an erased lead.
func (x *Exchange) readContactIfKept(seq uint64, lead market.LeadID) (nilIfUnreadable []person.ContactField, erasedErr error) {
	data, err := engineLogAdapter{x.log}.At(seq)
	if err != nil {
		return nil, nil //nolint:nilerr // documented
	}
	decoded, err := new(event.Decoder).Decode(data)
	decided, ok := decoded.(*event.LeadDecided)
	if err != nil || !ok || decided.Lead != lead {
		return nil, nil //nolint:nilerr // the report follows another log, and is about to be rebuilt
	}
	fields, err := x.decryptFields(decided)
	if errors.Is(err, engine.ErrErased) {
		return nil, err
	}
	return fields, nil
}

func (x *Exchange) decryptFields(decided *event.LeadDecided) ([]person.ContactField, error) {
	contact, err := x.engineForReading().DecryptContact(decided)
	if err != nil {
		return nil, err
	}
	fields := make([]person.ContactField, len(contact.Fields))
	for i := range contact.Fields {
		fields[i] = person.ContactField{Name: contact.Fields[i].Name, Value: string(contact.Fields[i].Text)}
	}
	return fields, nil
}

// RevealContact returns the contact data of a lead. The error is engine.ErrNotFound if the log does not
// have the lead, and engine.ErrErased if it was erased.
func (x *Exchange) RevealContact(lead market.LeadID) ([]person.ContactField, error) {
	explainer, err := x.newExplainer()
	if err != nil {
		return nil, err
	}
	decided, err := explainer.FindLeadDecision(lead)
	if err != nil {
		return nil, err
	}
	return x.decryptFields(decided)
}
