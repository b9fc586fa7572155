package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/internal/throttle"
	"pingpost/server/admin"
)

const (
	// maxErasePerEvent limits the leads that one event erases.
	maxErasePerEvent = 1000
	// eraseTimeout limits the wait for a delivery in progress. It is about the time of all
	// its attempts.
	eraseTimeout = 35 * time.Second
)

// contactDataEraser carries out one request to erase a person or a lead. It collects the matching leads
// from the log and erases their contact data, at most maxErasePerEvent leads with each event. The last
// event has all leads that were in delivery.
type contactDataEraser struct {
	x          *Exchange
	engine     engine.OperatorActions
	found      []engine.LeadAndKeySlot // to be erased with the next event
	inDelivery []engine.LeadAndKeySlot // in delivery, to be erased later
	result     admin.ErasureResult
}

// EraseContactData deletes the encryption keys of matching leads, so that their contact data becomes
// unreadable for good. erasure names a lead id, a phone number or an e-mail address. A lead id erases
// only that lead, not the person's other leads. The result
// counts the erased leads, and lists matching leads that were not erased. The error is
// engine.ErrNotFound if the log has no lead with the id.
func (x *Exchange) EraseContactData(erasure *admin.ErasureRequest) (admin.ErasureResult, error) {
	if err := x.Ready(); err != nil {
		return admin.ErasureResult{}, err
	}
	r := &contactDataEraser{x: x, engine: x.engine.Load().AsOperator(erasure.By)}
	var err error
	if erasure.Lead.IsZero() {
		err = r.scheduleLeadsOfPerson(newPersonToErase(erasure))
	} else {
		err = r.scheduleByID(erasure.Lead)
	}
	if err == nil {
		err = r.eraseScheduledLeads()
	}
	if err == nil {
		err = r.waitAndEraseLeadsInDelivery()
	}
	return r.result, err
}

// scheduleByID finds the lead with the id in the log and adds it to the leads to erase.
func (r *contactDataEraser) scheduleByID(id market.LeadID) error {
	explainer, err := r.x.newExplainer()
	if err != nil {
		return err
	}
	lead, err := explainer.FindLeadDecision(id)
	if err != nil {
		return err
	}
	return r.scheduleLeadAndEraseIfFull(lead)
}

// scheduleLeadsOfPerson reads the whole log and schedules every lead whose contact data matches
// person. It stops at the last entry that the state has applied, because only the state knows
// which leads are in delivery. It erases in batches, so memory holds the leads of one event, and
// those in delivery.
func (r *contactDataEraser) scheduleLeadsOfPerson(person *personToErase) error {
	last, _ := r.x.state.Position()
	log, err := r.x.log.NewReaderFromSegmentBefore(0)
	if err != nil {
		return fmt.Errorf("cannot read the log to find the leads to erase: %w", err)
	}
	defer log.Close()
	pace := throttle.NewScanThrottle(throttle.ScanChunk, &r.x.draining)
	return forEachEvent("find the leads to erase", log, func() error { return pace.PauseIfChunkWasRead(log.RecordBytesRead()) }, func(seq uint64, ev event.Event) (bool, error) {
		if lead, ok := ev.(*event.LeadDecided); ok && seq <= last {
			return true, r.scheduleLeadIfOfPerson(lead, person)
		}
		return seq < last, nil
	})
}

// scheduleLeadIfOfPerson decrypts the lead's contact data, and adds the lead to those to erase if a
// field matches person. It skips a lead that is erased already. A lead that it cannot decrypt is
// listed in the result as not erased.
func (r *contactDataEraser) scheduleLeadIfOfPerson(lead *event.LeadDecided, person *personToErase) error {
	contact, err := r.engine.DecryptContact(lead)
	switch {
	case errors.Is(err, engine.ErrErased):
		return nil
	case err != nil:
		r.result.AddUnerasedLead(lead.Lead, admin.NotErasedUnreadable)
		return nil //nolint:nilerr // the result lists the lead, and the search continues
	case !person.matchesAnyField(contact.Fields):
		return nil
	}
	return r.scheduleLeadAndEraseIfFull(lead)
}

// scheduleLeadAndEraseIfFull adds a lead to those that the next event erases, and writes the event
// once it has maxErasePerEvent leads. A lead without a key of its own (from an old log) cannot be
// erased, so the result lists it instead.
func (r *contactDataEraser) scheduleLeadAndEraseIfFull(lead *event.LeadDecided) error {
	if lead.Slot == 0 {
		r.result.AddUnerasedLead(lead.Lead, admin.NotErasedUnsealed)
		return nil
	}
	r.found = append(r.found, engine.LeadAndKeySlot{Lead: lead.Lead, Slot: lead.Slot})
	if len(r.found) < maxErasePerEvent {
		return nil
	}
	return r.eraseScheduledLeads()
}

// eraseScheduledLeads writes one event that erases the scheduled leads. The engine refuses leads
// that are in delivery; eraseScheduledLeads keeps them in inDelivery for waitAndEraseLeadsInDelivery.
func (r *contactDataEraser) eraseScheduledLeads() error {
	open, err := r.engine.EraseContactData(r.found)
	if err == nil {
		r.result.Leads += len(r.found) - len(open)
	}
	r.inDelivery, r.found = append(r.inDelivery, open...), r.found[:0]
	return err
}

// waitAndEraseLeadsInDelivery waits until the deliveries of the remaining leads have ended, and erases
// these leads. A lead that is still in delivery after the timeout is listed in the result as
// not erased.
func (r *contactDataEraser) waitAndEraseLeadsInDelivery() error {
	until := r.x.clock.Now() + int64(r.x.eraseTimeout)
	for _, lead := range r.inDelivery {
		r.engine.WaitUntilDeliveryEnds(lead.Lead, until)
	}
	r.found, r.inDelivery = r.inDelivery, nil
	if err := r.eraseScheduledLeads(); err != nil {
		return err
	}
	for _, lead := range r.inDelivery {
		r.result.AddUnerasedLead(lead.Lead, admin.NotErasedUnderWay)
	}
	return nil
}

// personToErase is the phone number (E.164) or the e-mail address of the person to erase.
// Contact fields of leads are compared with it.
type personToErase struct {
	phone, email []byte
	scratch      []byte
}

func newPersonToErase(erasure *admin.ErasureRequest) *personToErase {
	return &personToErase{phone: []byte(erasure.Phone), email: []byte(erasure.Email)}
}

// matchesAnyField reports whether one of a lead's contact fields equals the phone number or
// e-mail address. The form of the phone number and the case of letters do not matter. A field that
// contains it among other text does not match, because erasing is final.
func (w *personToErase) matchesAnyField(fields []event.LeadField) bool {
	for i := range fields {
		if w.matchesField(fields[i].Text) {
			return true
		}
	}
	return false
}

func (w *personToErase) matchesField(fieldText []byte) bool {
	fieldText = bytes.TrimSpace(fieldText)
	if len(w.email) > 0 {
		return bytes.EqualFold(fieldText, w.email)
	}
	if bytes.Equal(fieldText, w.phone) {
		return true
	}
	var ok bool
	w.scratch, ok = format.AppendPhoneAsE164(w.scratch[:0], fieldText)
	return ok && bytes.Equal(w.scratch, w.phone)
}
