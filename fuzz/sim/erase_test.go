package sim

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

func erased(found, left int) string { return fmt.Sprintf("erased %d left %d", found-left, left) }

// erase does the exchange's part of an erasure: it finds the leads in the log, erases them,
// waits for open deliveries, and tries again.
func (x *exchange) erase(l line) string {
	found, err := x.find(l)
	if err != nil {
		return operated(err)
	}
	open, err := x.engine.AsOperator("").EraseContactData(found)
	if err != nil {
		return operated(err)
	}
	end := time.Now().Add(erasing).UnixNano()
	for _, one := range open {
		x.engine.WaitUntilDeliveryEnds(one.Lead, end)
	}
	left, err := x.engine.AsOperator("").EraseContactData(open)
	if err != nil {
		return operated(err)
	}
	return erased(len(found), len(left))
}

// find decrypts every lead in the log and returns the person's leads.
func (x *exchange) find(l line) (found []engine.LeadAndKeySlot, err error) {
	phone, email := []byte("+1"+phoneOf(l.said["phone"])), []byte(emailOf(l.said["email"]))
	var decoder event.Decoder
	for _, e := range x.disk.all() {
		fact, err := decoder.Decode(e.data)
		if err != nil {
			return nil, err
		}
		decided, ok := fact.(*event.LeadDecided)
		if !ok {
			continue
		}
		is := l.has("lead") && decided.Lead == x.ids[l.said["lead"]]
		if !l.has("lead") {
			contact, err := x.engine.DecryptContact(decided)
			if err != nil && !errors.Is(err, engine.ErrErased) {
				return nil, err
			}
			for _, field := range contact.Fields {
				is = is || l.has("phone") && bytes.Equal(field.Text, phone) || l.has("email") && bytes.Equal(field.Text, email)
			}
		}
		if is {
			found = append(found, engine.LeadAndKeySlot{Lead: decided.Lead, Slot: decided.Slot})
		}
	}
	if l.has("lead") && len(found) == 0 {
		return nil, engine.ErrNotFound
	}
	return found, nil
}

// checkErasedKeys checks that the keys of all erased leads are gone. It tells the simulated buyers
// that they must not receive these leads again.
func (p *play) checkErasedKeys() string {
	for label := range p.m.erased {
		if !p.x.keys.IsKeyErased(p.x.slots[label]) {
			return fmt.Sprintf("lead %s was erased, and its key is there", label)
		}
		if post := p.x.state.UnfinishedPost(p.x.ids[label]); post != nil && !post.IsPersonalDataErased() {
			return fmt.Sprintf("lead %s was erased, and memory has what was to be sent", label)
		}
		p.x.world.mu.Lock()
		p.x.world.erased[p.x.ids[label].String()] = true
		p.x.world.mu.Unlock()
	}
	return ""
}

// personalTexts are texts that identify a person of a history.
var personalTexts = []string{"+1415200", "4152000", "@example.com"}

func personIn(text []byte) bool {
	for _, word := range personalTexts {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// auditPersons checks that no person is readable in the log or in a snapshot, that no erased
// person can be decrypted, and that all others can.
func (p *play) auditPersons() string {
	if personIn(p.x.disk.snapshot) {
		return "a person lies open in the snapshot"
	}
	for i, e := range p.x.disk.all() {
		if personIn(e.data) {
			return fmt.Sprintf("a person lies open in entry %d", i+1)
		}
		fact, err := p.x.decoder.Decode(e.data)
		if err != nil {
			return err.Error()
		}
		var fault string
		switch fact := fact.(type) {
		case *event.LeadDecided:
			fault = p.auditPart(fact.Lead, fact.Slot, fact.Sealed)
		case *event.PostSettled:
			if len(fact.Sealed) > 0 {
				fault = p.auditPart(fact.Lead, fact.Slot, fact.Sealed)
			}
		}
		if fault != "" {
			return fmt.Sprintf("entry %d: %s", i+1, fault)
		}
	}
	return ""
}

func (p *play) auditPart(id market.LeadID, slot uint64, sealed []byte) string {
	label := p.x.labels[id]
	l := p.m.leads[label]
	plain, err := p.x.keys.Open(nil, slot, id, sealed)
	switch {
	case l == nil:
		return fmt.Sprintf("the log has no lead %s", label)
	case p.m.erased[label] && !errors.Is(err, engine.ErrErased):
		return fmt.Sprintf("lead %s was erased, and can be opened: %q, %v", label, plain, err)
	case p.m.erased[label]:
		return ""
	case err != nil || !bytes.Contains(plain, []byte(phoneOf(l.phone))):
		return fmt.Sprintf("lead %s was not erased, and cannot be opened: %q, %v", label, plain, err)
	}
	return ""
}

// auditLookups looks up every lead as suppliers and buyers. Authorized callers must see the
// model's state, erased or not, and no caller may see personal data.
func (p *play) auditLookups() string {
	e := p.x.engine
	for _, l := range p.m.leads {
		if l.status == "open" || p.m.now-l.received >= memoryOf {
			continue
		}
		until := time.Now().Add(time.Second).UnixNano()
		for name := range p.m.terms.suppliers {
			shown, err := e.ViewLeadForSupplier(p.x.ids[l.label], e.ActiveCatalogOrNil().Suppliers[market.SupplierID(name)].Ref, until)
			if fault := l.shown(&shown, err, name == l.supplier, l.payout); fault != "" {
				return fmt.Sprintf("to %s lead %s is shown %s", name, l.label, fault)
			}
		}
		for name := range p.m.terms.buyers {
			shown, err := e.ViewLeadForBuyer(p.x.ids[l.label], e.ActiveCatalogOrNil().Buyers[market.BuyerID(name)].Ref, until)
			if fault := l.shown(&shown, err, name == l.buyer, l.price); fault != "" {
				return fmt.Sprintf("to %s lead %s is shown %s", name, l.label, fault)
			}
		}
	}
	return ""
}

// shown returns the fault of a lookup, or "".
func (l *lead) shown(look *engine.LeadView, err error, may bool, price int64) string {
	if !may {
		if !errors.Is(err, engine.ErrNotFound) {
			return "though it is another's"
		}
		return ""
	}
	if err != nil {
		return "as an error: " + err.Error()
	}
	buyer, reason := l.buyer, ""
	if l.status == "UNMATCHED" {
		buyer, reason, price = "", l.reason, 0
	}
	back := map[string]string{"": "none", "waits": "waiting", "approved": "approved", "refused": "refused"}[l.backed]
	want := []string{l.status, l.delivery, reason, back, l.campaign, buyer, amount(price)}
	got := []string{
		look.Status.String(), look.Delivery.String(), look.Reason.String(), look.Return.String(), look.Campaign, look.Buyer, amount(int64(look.Price)),
	}
	if strings.Join(got, " ") != strings.Join(want, " ") || look.Test {
		return fmt.Sprintf("as %q; by the model it is %q", got, want)
	}
	if personIn(fmt.Appendf(nil, "%+v", *look)) {
		return fmt.Sprintf("with who it is: %+v", *look)
	}
	return ""
}
