package engine

import (
	"maps"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// namesAtOnce bounds the names in one fact, so that it fits a frame.
const namesAtOnce = 2000

// numbering gives a catalog's names and caps their permanent numbers: those
// they have, or the next ones, which it enters into facts. It goes through the
// catalog in the order of names, so that equal catalogs are numbered alike.
type numbering struct {
	state *state.State
	facts []*event.NamesGiven
	next  map[event.NameKind]market.Ref
	caps  map[market.CapKey]market.Ref
}

func newNumbering(s *state.State) *numbering {
	return &numbering{state: s, next: make(map[event.NameKind]market.Ref), caps: s.CapRefs()}
}

func (n *numbering) number(c *market.Catalog) {
	for _, id := range slices.Sorted(maps.Keys(c.Suppliers)) {
		c.Suppliers[id].Ref = n.name(event.NameSupplier, string(id))
	}
	for _, id := range slices.Sorted(maps.Keys(c.Lists)) {
		c.Lists[id].Ref = n.name(event.NameList, string(id))
	}
	for _, id := range slices.Sorted(maps.Keys(c.Buyers)) {
		buyer := c.Buyers[id]
		buyer.Ref = n.name(event.NameBuyer, string(id))
		for _, limit := range buyer.Caps {
			n.cap(limit, 0, buyer.Ref)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.Campaigns)) {
		campaign := c.Campaigns[id]
		campaign.Ref = n.name(event.NameCampaign, string(id))
		for _, limit := range campaign.Caps {
			n.cap(limit, campaign.Ref, 0)
		}
		for i := range campaign.FilterSets {
			seat := &campaign.FilterSets[i]
			for _, limit := range seat.Caps {
				n.cap(limit, campaign.Ref, seat.Buyer.Ref)
			}
		}
	}
}

func (n *numbering) name(kind event.NameKind, id string) market.Ref {
	if ref := n.state.RefOf(kind, id); ref != 0 {
		return ref
	}
	if n.next[kind] == 0 {
		n.next[kind] = market.Ref(n.state.NameCount(kind))
	}
	n.next[kind]++
	fact := n.fact()
	fact.Names = append(fact.Names, event.Name{Kind: kind, Ref: n.next[kind], ID: id})
	return n.next[kind]
}

func (n *numbering) cap(limit *market.Cap, campaign, buyer market.Ref) {
	key := market.CapKey{
		Scope: limit.Scope, Campaign: campaign, Buyer: buyer,
		Unit: limit.Unit, Period: limit.Period, Zone: limit.Zone.String(),
	}
	ref, ok := n.caps[key]
	if !ok {
		ref = market.Ref(len(n.caps) + 1)
		n.caps[key] = ref
		fact := n.fact()
		fact.Caps = append(fact.Caps, event.CapName{Ref: ref, Key: key})
	}
	limit.Ref = ref
}

// fact is the one that has room for another name.
func (n *numbering) fact() *event.NamesGiven {
	if last := len(n.facts) - 1; last >= 0 && len(n.facts[last].Names)+len(n.facts[last].Caps) < namesAtOnce {
		return n.facts[last]
	}
	fact := new(event.NamesGiven)
	n.facts = append(n.facts, fact)
	return fact
}
