package engine

import (
	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
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

func appendTrail(trail []event.TrailStep, in *ingest) []event.TrailStep {
	if in.auction.IsHeld() {
		return appendAuctionTrail(trail, &in.candidates)
	}
	return appendSteps(trail, &in.candidates)
}

func appendSteps(trail []event.TrailStep, candidates *selection.Candidates) []event.TrailStep {
	candidates.EachOutcome(func(outcome market.Outcome, seats bitset.Set) {
		trail = append(trail, event.TrailStep{Outcome: outcome, FilterSets: seats})
	})
	return trail
}
