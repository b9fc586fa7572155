package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// eraser erases the persons of leads that it finds in the log.
type eraser struct {
	x          *Exchange
	engine     engine.Operator
	decoder    *event.Decoder
	found      []engine.EncryptedLead // to be erased with the next event
	inDelivery []engine.EncryptedLead // in delivery, to be erased later
	result     admin.Erased
}

// Erase drops the keys of the leads with an id, a phone number or an e-mail address, so
// that their contact data becomes unreadable for good. The error is engine.ErrNotFound if
// the log has no lead with the id.
func (x *Exchange) Erase(who *admin.Erasure) (admin.Erased, error) {
	if err := x.Ready(); err != nil {
		return admin.Erased{}, err
	}
	r := &eraser{x: x, engine: x.engine.Load().By(who.By), decoder: &event.Decoder{ForReplay: true}}
	var err error
	if who.Lead.IsZero() {
		err = r.scheduleByContact(newErasePattern(who))
	} else {
		err = r.scheduleByID(who.Lead)
	}
	if err == nil {
		err = r.eraseScheduled()
	}
	if err == nil {
		err = r.eraseLeadsInDelivery()
	}
	return r.result, err
}

// scheduleByID schedules the lead with an id for the next event.
func (r *eraser) scheduleByID(id market.LeadID) error {
	explainer, err := r.x.newExplainer()
	if err != nil {
		return err
	}
	lead, err := explainer.LeadDecision(id)
	if err != nil {
		return err
	}
	return r.scheduleLead(lead)
}

// scheduleByContact reads the log from its beginning to the state's position, because the
// state knows which leads are in delivery. It holds the leads of at most one event in
// memory.
func (r *eraser) scheduleByContact(who *erasePattern) error {
	last, _ := r.x.state.Position()
	log, err := r.x.log.NewReaderSince(0)
	if err != nil {
		return fmt.Errorf("erase: cannot read the log: %w", err)
	}
	defer log.Close()
	pace := throttle.NewScanThrottle(throttle.ScanChunk, &r.x.draining)
	for {
		if err := pace.PauseAfterChunk(log.BytesRead()); err != nil {
			return err
		}
		entry, err := log.Next()
		if errors.Is(err, io.EOF) || err == nil && entry.Seq > last {
			return nil
		}
		if err != nil {
			return fmt.Errorf("erase: cannot read the log: %w", err)
		}
		ev, err := r.decoder.Decode(entry.Data)
		if err != nil {
			return fmt.Errorf("erase: cannot decode entry %d of the log: %w", entry.Seq, err)
		}
		if lead, ok := ev.(*event.LeadDecided); ok {
			if err := r.scheduleIfMatch(lead, who); err != nil {
				return err
			}
		}
	}
}

// scheduleIfMatch schedules the lead if it matches the pattern.
func (r *eraser) scheduleIfMatch(lead *event.LeadDecided, who *erasePattern) error {
	contact, err := r.engine.Contact(lead)
	switch {
	case errors.Is(err, engine.ErrErased):
		return nil
	case err != nil:
		r.result.AddNotErased(lead.Lead, admin.NotErasedUnreadable)
		return nil //nolint:nilerr // the result lists the lead, and the search continues
	case !who.matchesAnyField(contact.Fields):
		return nil
	}
	return r.scheduleLead(lead)
}

// scheduleLead schedules a lead for the next event.
func (r *eraser) scheduleLead(lead *event.LeadDecided) error {
	if lead.Slot == 0 {
		r.result.AddNotErased(lead.Lead, admin.NotErasedUnsealed)
		return nil
	}
	r.found = append(r.found, engine.EncryptedLead{Lead: lead.Lead, Slot: lead.Slot})
	if len(r.found) < maxErasePerEvent {
		return nil
	}
	return r.eraseScheduled()
}

// eraseScheduled erases the scheduled leads. It keeps those in delivery for eraseLeadsInDelivery.
func (r *eraser) eraseScheduled() error {
	open, err := r.engine.Erase(r.found)
	if err == nil {
		r.result.Leads += len(r.found) - len(open)
	}
	r.inDelivery, r.found = append(r.inDelivery, open...), r.found[:0]
	return err
}

// eraseLeadsInDelivery waits for the leads in delivery, erases them, and reports those that
// are still in delivery.
func (r *eraser) eraseLeadsInDelivery() error {
	until := r.x.clock.Now() + int64(r.x.eraseTimeout)
	for _, lead := range r.inDelivery {
		r.engine.WaitForDelivery(lead.Lead, until)
	}
	r.found, r.inDelivery = r.inDelivery, nil
	if err := r.eraseScheduled(); err != nil {
		return err
	}
	for _, lead := range r.inDelivery {
		r.result.AddNotErased(lead.Lead, admin.NotErasedUnderWay)
	}
	return nil
}

// erasePattern is a person's phone number in E.164 form, or e-mail address.
type erasePattern struct {
	phone, email []byte
	scratch      []byte
}

func newErasePattern(who *admin.Erasure) *erasePattern {
	return &erasePattern{phone: []byte(who.Phone), email: []byte(who.Email)}
}

// matchesAnyField reports whether a whole field equals the number or the address. A field that
// only contains it does not match, because erasing is final.
func (w *erasePattern) matchesAnyField(fields []event.Field) bool {
	for i := range fields {
		if w.matchesField(fields[i].Text) {
			return true
		}
	}
	return false
}

func (w *erasePattern) matchesField(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(w.email) > 0 {
		return bytes.EqualFold(text, w.email)
	}
	if bytes.Equal(text, w.phone) {
		return true
	}
	var ok bool
	w.scratch, ok = format.ParsePhone(w.scratch[:0], text)
	return ok && bytes.Equal(w.scratch, w.phone)
}
