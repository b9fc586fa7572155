// Package testlead makes example leads: for operators, who send them as test leads, and for the
// samples in posting instructions.
//
// An example passes the campaign's field rules and filters, and the states and filters of at least
// one buyer. MakeExample aims at one buyer after the other, and checks each attempt with the code
// that decides about real leads. Hours, pauses, lists, endpoints and a
// buyer's suppliers are not the lead's properties, so an example ignores them.
//
// Rejected: a solver for all conditions at once. Conditions on different fields are independent, so
// a value for each field on its own suffices.
package testlead

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/selection"
	"pingpost/internal/fakedata"
)

// Example is a made-up lead for a campaign.
type Example struct {
	Members        []Member         // of an ingest, without those that select campaign and supplier
	Eligible       []market.BuyerID // the buyers whose states and filters accept it, each once
	Contradictions []string         // if no buyer accepts it: the rules that prevent it
}

// ValueOf returns the value of a member as JSON, or nil.
func (e *Example) ValueOf(name string) json.RawMessage { return valueOf(e.Members, name) }

func valueOf(members []Member, name string) json.RawMessage {
	for i := range members {
		if members[i].Name == name {
			return members[i].Value
		}
	}
	return nil
}

// Limits of the search. Each attempt fills and checks one lead, in about 50 µs. Public requests for
// posting instructions cause it too. A second attempt at a buyer has another person, which helps if no
// guess matches the pattern of a field.
const (
	maxAttempts      = 200
	attemptsPerBuyer = 3
)

// MakeExample returns a lead that at least one buyer of the campaign accepts, if one of the first
// maxAttempts buyers in the order of orderByStateAndTestEndpoint can accept a lead at all. Otherwise it
// returns a lead that fits the campaign as far as possible, with the contradictions. Equal seeds give
// equal examples for one configuration on one day.
func MakeExample(c *market.Campaign, seed int64) *Example {
	compiled, order := selection.CompileFilterSets(c), orderByStateAndTestEndpoint(c)
	for n := range min(attemptsPerBuyer*len(order), maxAttempts) {
		set := &c.FilterSets[order[n%len(order)]]
		a := attemptLead(c, set, seed+int64(n/len(order)))
		if !a.passesCampaign(c) {
			continue
		}
		if eligible := buyersWhoseFiltersAccept(compiled, a.lead); slices.Contains(eligible, set.Buyer.ID) {
			return &Example{Members: a.members, Eligible: eligible}
		}
	}
	a := attemptLead(c, nil, seed)
	return &Example{Members: a.members, Contradictions: findContradictions(c, order, a, seed)}
}

// orderByStateAndTestEndpoint returns the indexes of the filter sets in the order in which MakeExample
// tries them: first those with a state that the campaign accepts, and of these first the buyers that
// can get test leads.
func orderByStateAndTestEndpoint(c *market.Campaign) (order []int) {
	var accepted market.USStateSet
	for _, state := range usStatesWithExamples() {
		if usStateFiltersAccept(c, c.Filters, state) {
			accepted = accepted.WithState(state)
		}
	}
	rank := func(i int) (worse int) {
		set := &c.FilterSets[i]
		if set.States != market.AllStates && set.States&accepted == 0 {
			worse += 2
		}
		if engine.LacksRequiredTestEndpoint(set.Buyer, c.Method) {
			worse++
		}
		return worse
	}
	for i := range c.FilterSets {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return order
}

// buyersWhoseFiltersAccept returns the buyers whose states and filters accept the lead.
func buyersWhoseFiltersAccept(compiled *selection.CompiledFilterSets, lead *market.Lead) (buyers []market.BuyerID) {
	var candidates selection.Candidates
	candidates.ResetToAll(compiled)
	compiled.ExcludeByUSStateAndFilters(lead, &candidates)
	for i := candidates.Eligible.NextFrom(0); i >= 0; i = candidates.Eligible.NextFrom(i + 1) {
		if id := compiled.Campaign.FilterSets[i].Buyer.ID; !slices.Contains(buyers, id) {
			buyers = append(buyers, id)
		}
	}
	return buyers
}

// filtersOf returns the filters of the campaign and of a filter set, which may be nil.
func filtersOf(c *market.Campaign, set *market.FilterSet) []market.Filter {
	if set == nil {
		return c.Filters
	}
	return slices.Concat(c.Filters, set.Filters)
}

// attempt is a made-up lead with the result of the campaign's field rules. If there are faults, an
// ingest would reject the members.
type attempt struct {
	members []Member
	lead    *market.Lead
	faults  []market.FieldError
}

func (a *attempt) passesCampaign(c *market.Campaign) bool {
	if len(a.faults) > 0 || c.Method == market.PingPost && a.lead.USState() == market.NoState {
		return false
	}
	for i := range c.Filters {
		if !c.Filters[i].Accepts(a.lead) {
			return false
		}
	}
	return true
}

// attemptLead makes up a lead that aims at a filter set, or at the campaign alone if set is nil. It
// replaces the values that the field rules or the filters reject by guesses. The lead has a value in
// each of the campaign's own fields, if a value is possible.
func attemptLead(c *market.Campaign, set *market.FilterSet, seed int64) *attempt {
	filters := filtersOf(c, set)
	made := makeMembers(c, findUSStateOrCalifornia(c, set), seed)
	lead, faults := readLead(c, made)
	wrong := map[market.LeadFieldIndex]bool{}
	for i := range faults {
		if slot, ok := c.Mapping.SlotByNameFromSuppliers(faults[i].Field); ok {
			wrong[slot] = true
		}
	}
	for i := range filters {
		if !filters[i].Accepts(lead) {
			wrong[filters[i].FieldSlot()] = true
		}
	}
	a := &attempt{members: slices.DeleteFunc(made, func(m Member) bool {
		slot, _ := c.Mapping.SlotByNameFromSuppliers(m.Name)
		return wrong[slot]
	})}
	for slot := range market.LeadFieldIndex(c.Mapping.SlotCount()) {
		name := c.Mapping.FieldNameFromSuppliers(slot)
		if !wrong[slot] && (slot < market.FirstCustomSlot || valueOf(a.members, name) != nil) {
			continue
		}
		if value := c.Mapping.ExampleValueJSON(slot, filters, timeInZoneOf(c)); value != nil {
			a.members = append(a.members, Member{Name: name, Value: value})
		}
	}
	a.lead, a.faults = readLead(c, a.members)
	return a
}

// makeMembers returns the members of a made-up lead with consent that are fields of the campaign,
// under the campaign's names.
func makeMembers(c *market.Campaign, state market.USState, seed int64) (members []Member) {
	made := &fakedata.MakeLeads(fakedata.LeadSeriesOptions{Count: 1, Vertical: c.Vertical, State: state, Seed: seed})[0]
	made.Consent = true
	if len(c.ConsentHosts) > 0 {
		made.Certificate = "https://" + expandHostWildcard(c.ConsentHosts[0]) + "/certificate"
	}
	parsed := parseMembers(made.AppendIngest(nil, string(c.ID), ""))
	for i := range parsed {
		slot, ok := c.Mapping.SlotByNameFromSuppliers(string(parsed[i].Name))
		if !ok {
			continue
		}
		// Two made-up members can be one field under the campaign's names. The first counts.
		if name := c.Mapping.FieldNameFromSuppliers(slot); valueOf(members, name) == nil {
			members = append(members, Member{Name: name, Value: encodeMemberValue(&parsed[i])})
		}
	}
	return members
}

// expandHostWildcard returns a host that a configured host of certificates accepts: it replaces a
// leading * by cert, and returns other hosts unchanged.
func expandHostWildcard(configured string) string {
	if parent, isWildcard := strings.CutPrefix(configured, "*"); isWildcard {
		return "cert" + parent
	}
	return configured
}

// findUSStateOrCalifornia returns a US state that the filters and the filter set accept, or California
// if there is none.
func findUSStateOrCalifornia(c *market.Campaign, set *market.FilterSet) market.USState {
	filters := filtersOf(c, set)
	for _, state := range usStatesWithExamples() {
		if (set == nil || set.States.Has(state)) && usStateFiltersAccept(c, filters, state) {
			return state
		}
	}
	return market.ParseUSStateCode([]byte("CA"))
}

// usStatesWithExamples returns the states for which fakedata has addresses.
func usStatesWithExamples() (states []market.USState) {
	places := fakedata.AllUSStateData()
	for i := range places {
		states = append(states, market.ParseUSStateCode([]byte(places[i].State)))
	}
	return states
}

// usStateFiltersAccept reports whether those filters that test the state accept it.
func usStateFiltersAccept(c *market.Campaign, filters []market.Filter, state market.USState) bool {
	lead := market.Lead{Values: make([]market.FieldValue, c.Mapping.SlotCount())}
	lead.Values[market.SlotState] = market.TextValueOrAbsent([]byte(state.String()))
	for i := range filters {
		if f := &filters[i]; f.FieldSlot() == market.SlotState && !f.Accepts(&lead) {
			return false
		}
	}
	return true
}

// FindAcceptedSupplierID returns the id of a supplier that may send leads to the campaign, or "".
func FindAcceptedSupplierID(catalog *market.Catalog, campaign *market.Campaign) (supplierID string) {
	for _, id := range slices.Sorted(maps.Keys(catalog.Suppliers)) {
		if campaign.AcceptsSupplier(id) {
			return string(id)
		}
	}
	return ""
}
