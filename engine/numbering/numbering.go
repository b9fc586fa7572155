// Package numbering assigns permanent numbers to the names of suppliers, buyers, campaigns and
// lists and to the caps of a configuration. Events in the log use the numbers, so a number never
// changes its meaning.
package numbering

import (
	"maps"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// maxNamesPerRecord limits the names and caps in one event, so that the event fits the largest
// record of the log.
const maxNamesPerRecord = 2000

// numberAssigner gives permanent numbers to a catalog's names and caps. A known name keeps its
// number; a new one gets the next number, which an event records. It goes through the catalog in
// the order of names, so that equal catalogs get equal numbers.
type numberAssigner struct {
	state   *state.State
	records []*event.ConfigObjectNumbersAssigned
	next    map[event.ConfigObjectKind]market.PermanentNumber
	caps    map[market.CapKey]market.PermanentNumber
}

// AssignConfigObjectNumbers sets the permanent numbers of all names and caps in the catalog. It returns the
// events that record the new numbers; the caller commits them before it uses the catalog.
func AssignConfigObjectNumbers(s *state.State, c *market.Catalog) []*event.ConfigObjectNumbersAssigned {
	n := &numberAssigner{state: s, next: make(map[event.ConfigObjectKind]market.PermanentNumber), caps: s.CapRefsByKey()}
	n.assignAllNumbers(c)
	return n.records
}

func (n *numberAssigner) assignAllNumbers(c *market.Catalog) {
	for _, id := range slices.Sorted(maps.Keys(c.Suppliers)) {
		c.Suppliers[id].Ref = n.findOrAssignNameNumber(event.ObjectSupplier, string(id))
	}
	for _, id := range slices.Sorted(maps.Keys(c.Lists)) {
		c.Lists[id].Ref = n.findOrAssignNameNumber(event.ObjectList, string(id))
	}
	for _, id := range slices.Sorted(maps.Keys(c.Buyers)) {
		buyer := c.Buyers[id]
		buyer.Ref = n.findOrAssignNameNumber(event.ObjectBuyer, string(id))
		for _, limit := range buyer.Caps {
			n.findOrAssignCapNumber(limit, market.CapKey{Buyer: buyer.Ref})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.Campaigns)) {
		campaign := c.Campaigns[id]
		campaign.Ref = n.findOrAssignNameNumber(event.ObjectCampaign, string(id))
		for _, limit := range campaign.Caps {
			n.findOrAssignCapNumber(limit, market.CapKey{Campaign: campaign.Ref})
		}
		for i := range campaign.Terms {
			for _, limit := range campaign.Terms[i].Caps {
				n.findOrAssignCapNumber(limit, market.CapKey{Campaign: campaign.Ref, Entry: campaign.Terms[i].ID})
			}
		}
		for i := range campaign.FilterSets {
			set := &campaign.FilterSets[i]
			for _, limit := range set.Caps {
				n.findOrAssignCapNumber(limit, market.CapKey{Campaign: campaign.Ref, Buyer: set.Buyer.Ref, Entry: set.ID})
			}
		}
	}
}

func (n *numberAssigner) findOrAssignNameNumber(kind event.ConfigObjectKind, name string) market.PermanentNumber {
	if ref := n.state.RefOf(kind, name); ref != 0 {
		return ref
	}
	if n.next[kind] == 0 {
		n.next[kind] = market.PermanentNumber(n.state.CountPermanentNumbers(kind))
	}
	n.next[kind]++
	record := n.unfilledRecordOrNew()
	record.Names = append(record.Names, event.NameNumberAssignment{Kind: kind, Ref: n.next[kind], ID: name})
	return n.next[kind]
}

// findOrAssignCapNumber sets the cap's number. key has the campaign, the buyer and the entry of the cap.
func (n *numberAssigner) findOrAssignCapNumber(limit *market.Cap, key market.CapKey) {
	key.Scope, key.Unit, key.Period, key.Zone = limit.Scope, limit.Unit, limit.Period, limit.Zone.String()
	ref, ok := n.caps[key]
	if !ok {
		ref = market.PermanentNumber(len(n.caps) + 1)
		n.caps[key] = ref
		record := n.unfilledRecordOrNew()
		record.Caps = append(record.Caps, event.CapNumberAssignment{Ref: ref, Key: key})
	}
	limit.Ref = ref
}

// unfilledRecordOrNew returns the event to which the next new name or cap is added: the last one, or
// a new one if that is full.
func (n *numberAssigner) unfilledRecordOrNew() *event.ConfigObjectNumbersAssigned {
	if last := len(n.records) - 1; last >= 0 && len(n.records[last].Names)+len(n.records[last].Caps) < maxNamesPerRecord {
		return n.records[last]
	}
	record := new(event.ConfigObjectNumbersAssigned)
	n.records = append(n.records, record)
	return record
}
