package exchange

import (
	"errors"
	"fmt"
	"io"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/throttle"
	"pingpost/server/admin"
)

const (
	// eraseAtOnce is how many leads are erased by one fact.
	eraseAtOnce = 1000
	// eraseWaits is for how long a delivery is waited for that is still under way:
	// about as long as its tries go on.
	eraseWaits = 35 * time.Second
)

// eraser erases persons from the log: those of the leads that it finds there.
type eraser struct {
	x     *Exchange
	on    engine.Operator
	of    *event.Decoder
	found []engine.Sealed // not erased yet
	open  []engine.Sealed // that are being delivered
	came  admin.Erased
}

// Erase makes sure that nobody can know any more who the leads were that it names, by
// id, phone number or e-mail address. The error is engine.ErrNotFound where the log's
// history has no lead of the id.
func (x *Exchange) Erase(who *admin.Erasure) (admin.Erased, error) {
	if err := x.Ready(); err != nil {
		return admin.Erased{}, err
	}
	r := &eraser{x: x, on: x.engine.Load().By(who.By), of: &event.Decoder{ForReplay: true}}
	var err error
	if who.Lead.IsZero() {
		err = r.everyLead(newWanted(who))
	} else {
		err = r.oneLead(who.Lead)
	}
	if err == nil {
		err = r.erase()
	}
	if err == nil {
		err = r.waitForThose()
	}
	return r.came, err
}

func (r *eraser) oneLead(id market.LeadID) error {
	explainer, err := r.x.explainer()
	if err != nil {
		return err
	}
	lead, err := explainer.Decision(id)
	if err != nil {
		return err
	}
	return r.take(lead)
}

// everyLead reads the log from its beginning to where memory stands, which knows
// which leads are being delivered. It holds no more than the leads of one fact.
func (r *eraser) everyLead(who *wanted) error {
	last, _ := r.x.state.Position()
	log, err := r.x.log.NewReaderSince(0)
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	defer log.Close()
	pace := throttle.NewScan(throttle.ScanChunk, &r.x.draining)
	for {
		if err := pace.Pause(log.Bytes()); err != nil {
			return err
		}
		entry, err := log.Next()
		if errors.Is(err, io.EOF) || err == nil && entry.Seq > last {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read the log: %w", err)
		}
		fact, err := r.of.Decode(entry.Data)
		if err != nil {
			return fmt.Errorf("cannot read entry %d of the log: %w", entry.Seq, err)
		}
		if lead, ok := fact.(*event.LeadDecided); ok {
			if err := r.look(lead, who); err != nil {
				return err
			}
		}
	}
}

// look takes a lead where it is of the person.
func (r *eraser) look(lead *event.LeadDecided, who *wanted) error {
	contact, err := r.on.Contact(lead)
	switch {
	case errors.Is(err, engine.ErrErased):
		return nil
	case err != nil:
		r.came.AddLeft(lead.Lead, admin.LeftUnreadable)
		return nil //nolint:nilerr // it is told, and the others are looked at
	case !who.isIn(contact.Fields):
		return nil
	}
	return r.take(lead)
}

// take has a lead erased with the next fact.
func (r *eraser) take(lead *event.LeadDecided) error {
	if lead.Slot == 0 {
		r.came.AddLeft(lead.Lead, admin.LeftUnsealed)
		return nil
	}
	r.found = append(r.found, engine.Sealed{Lead: lead.Lead, Slot: lead.Slot})
	if len(r.found) < eraseAtOnce {
		return nil
	}
	return r.erase()
}

func (r *eraser) erase() error {
	open, err := r.on.Erase(r.found)
	if err == nil {
		r.came.Leads += len(r.found) - len(open)
	}
	r.open, r.found = append(r.open, open...), r.found[:0]
	return err
}

// waitForThose waits for the leads that are being delivered, and tells of those that
// are so still.
func (r *eraser) waitForThose() error {
	until := r.x.clock.Now() + int64(r.x.eraseWaits)
	for _, lead := range r.open {
		r.on.Undelivered(lead.Lead, until)
	}
	r.found, r.open = r.open, nil
	if err := r.erase(); err != nil {
		return err
	}
	for _, lead := range r.open {
		r.came.AddLeft(lead.Lead, admin.LeftUnderWay)
	}
	return nil
}
