package instructions

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/server/testlead"
)

// describeFields returns the campaign's fields in mapping order: the standard ones first.
func describeFields(campaign *market.Campaign, s *testlead.Example) []Field {
	mapping := campaign.Mapping
	fields := make([]Field, 0, mapping.SlotCount())
	for slot := range market.LeadFieldIndex(mapping.SlotCount()) {
		d := mapping.DescribeFieldForSuppliers(slot)
		f := Field{
			Name: d.Name, Type: d.Type.String(), Required: d.Required, Standard: d.Known,
			InPing: d.InPing, Contact: d.Contact, Rule: d.Accepted, Pattern: d.Pattern, Example: s.ValueOf(d.Name),
		}
		if d.Coerce {
			f.Rule += "; a string with such a value is accepted too"
		}
		if slot == market.SlotState && !d.Required && d.Default.Kind == market.KindAbsent && eachSaleNeedsState(campaign) {
			f.Rule += "; a lead without it is unsold"
		}
		if d.Default.Kind != market.KindAbsent {
			f.Default = d.Default.AppendJSON(nil)
		}
		if f.Example == nil {
			f.Example = mapping.ExampleValueJSON(slot, nil, time.Time{})
		}
		fields = append(fields, f)
	}
	return fields
}

// eachSaleNeedsState reports whether a lead without a state is never sold in the campaign: because it
// holds auctions, or because its filters or the conditions of each of its buyers need a state.
func eachSaleNeedsState(campaign *market.Campaign) bool {
	var stateless market.Lead
	stateless.Reset(campaign.Mapping.SlotCount())
	rejects := func(filters []market.Filter) bool {
		return slices.ContainsFunc(filters, func(f market.Filter) bool { return f.FieldSlot() == market.SlotState && !f.Accepts(&stateless) })
	}
	if campaign.Method == market.PingPost || rejects(campaign.Filters) {
		return true
	}
	for i := range campaign.FilterSets {
		if set := &campaign.FilterSets[i]; set.States == market.AllStates && !rejects(set.Filters) {
			return false
		}
	}
	return len(campaign.FilterSets) > 0
}

func consentRulesOf(campaign *market.Campaign) ConsentRules {
	rules := ConsentRules{Sources: slices.Sorted(maps.Keys(campaign.ConsentSources)), Hosts: slices.Clone(campaign.ConsentHosts)}
	if rules.Sources == nil {
		rules.Sources = []string{}
	}
	if rules.Hosts == nil {
		rules.Hosts = []string{}
	}
	return rules
}

func summarizeDuplicates(env *ExchangeSettings, campaign *market.Campaign) DuplicateSummary {
	d := DuplicateSummary{Fields: []string{}, All: campaign.Duplicates.All, Shared: campaign.Duplicates.Shared}
	if campaign.Duplicates.Window == 0 {
		return d
	}
	d.Window = env.FormatDuration(time.Duration(campaign.Duplicates.Window))
	for slot, counts := range map[market.LeadFieldIndex]bool{market.SlotPhone: campaign.Duplicates.Phone, market.SlotEmail: campaign.Duplicates.Email} {
		if counts {
			d.Fields = append(d.Fields, campaign.Mapping.FieldNameFromSuppliers(slot))
		}
	}
	slices.Sort(d.Fields)
	return d
}

// quoteJSON returns the text as a JSON string.
func quoteJSON(text string) json.RawMessage { return escape.AppendJSONString(nil, []byte(text)) }
