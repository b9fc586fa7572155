package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/route"
)

// recordFields enters the lead's values into the fact: those that tell who it
// is into the contact part, the others beside it.
func (in *ingest) recordFields() {
	mapping := in.open.Campaign.Mapping
	in.contact.Fields = in.contact.Fields[:0]
	for slot := range in.lead.Values {
		value := &in.lead.Values[slot]
		if value.Kind == market.KindAbsent {
			continue
		}
		field := event.Field{Name: mapping.NameOf(market.Slot(slot)), Kind: value.Kind, Text: value.Text}
		if mapping.Contact(market.Slot(slot)) {
			in.contact.Fields = append(in.contact.Fields, field)
		} else {
			in.fact.Fields = append(in.fact.Fields, field)
		}
	}
	for i := range in.lead.Extras {
		extra := &in.lead.Extras[i]
		in.contact.Fields = append(in.contact.Fields, event.Field{
			Name: string(extra.Name), Kind: extra.Value.Kind, Text: extra.Value.Text,
		})
	}
}

// seal writes the contact part, with the body that is posted, if any.
func (in *ingest) seal(body []byte) {
	in.contact.Body = body
	in.fact.Sealed = in.contact.AppendTo(in.fact.Sealed[:0])
}

// trail enters into the fact what became of each candidate, and of what it bid.
func (in *ingest) trail() {
	in.fact.Trail = appendTrail(in.fact.Trail[:0], in)
	if a := &in.auction; a.wasHeld() {
		record := &in.fact.Auction
		record.ID, record.Began, record.Deadline = a.id, a.began, a.deadline
		record.Bids = a.appendBids(record.Bids[:0])
	}
}

func appendTrail(trail []event.Step, in *ingest) []event.Step {
	if in.auction.wasHeld() {
		return in.auction.appendTrail(trail)
	}
	return appendSteps(trail, &in.candidates)
}

func appendSteps(trail []event.Step, candidates *route.Candidates) []event.Step {
	candidates.Each(func(outcome market.Outcome, seats market.Bits) {
		trail = append(trail, event.Step{Outcome: outcome, Seats: seats})
	})
	return trail
}
