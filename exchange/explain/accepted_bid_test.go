package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// newCampaign returns the campaign cmp with the buyers buy_1 and buy_2 and a text field.
func newCampaign(t *testing.T, method market.BuyerSelectionMethod) *market.Campaign {
	t.Helper()
	mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{{Name: "comments", Type: market.TypeString}, {Name: "make", Type: market.TypeString}, {Name: "age", Type: market.TypeInteger}}})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	return &market.Campaign{
		Ref: 1, ID: "cmp", Method: method, Currency: market.Currency{'U', 'S', 'D'}, Zone: time.UTC, Mapping: mapping,
		Duplicates: market.DuplicateRule{Phone: true, Window: int64(time.Hour)},
		FilterSets: []market.FilterSet{{Buyer: &market.Buyer{Ref: 1, ID: "buy_1"}, States: market.AllStates}, {Buyer: &market.Buyer{Ref: 2, ID: "buy_2"}, States: market.AllStates}},
	}
}

// newHistoryOf returns a history in which the campaign is in force as version 1.
func newHistoryOf(t *testing.T, campaign *market.Campaign) *history {
	t.Helper()
	c := newHistory(t)
	c.activateConfig(1, "buy_1", "buy_2")
	c.ActiveCatalog = func() *market.Catalog {
		return &market.Catalog{Version: 1, Campaigns: map[market.CampaignID]*market.Campaign{"cmp": campaign}}
	}
	return c
}

// TestExplainRejectedBid: the rule that rejected a lead which accepts the bid of buy_1, when the log has no
// outcomes. It is the campaign's only if that really rejects the lead, otherwise the one of buy_1. An
// ingest does not name the bid. Without a rule the summary names no party.
func TestExplainRejectedBid(t *testing.T) {
	t.Parallel()
	listsNamed := func(names ...string) (lists []*market.SuppressionListDefinition) {
		for _, name := range names {
			lists = append(lists, &market.SuppressionListDefinition{ID: market.ListID(name), Field: market.ListPhone})
		}
		return lists
	}
	const dnc, own, reconstructed = "phone: is on suppression list dnc", "phone: is on suppression list own", " (reconstructed: by the list's present content)"
	const unclear = "note: The log does not name the rule that rejected the lead. "
	const audi, adult, comments = "make: required one of Audi, got none", "age: required >= 18, got 17", "comments: required none of spam, got none"
	age17 := func(decided *event.LeadDecided) {
		decided.Fields = append(decided.Fields, event.LeadField{Name: "age", Kind: market.KindInteger, Text: []byte("17")})
	}
	earlier := func(decided *event.LeadDecided) { decided.DuplicateOf = market.LeadID{1, 2, 3} }
	const hasEarlier = " already has lead_"
	for name, row := range map[string]struct {
		campaign, buyer string // lists, or filters by field
		listed          string // lists that have the lead
		reason          market.UnsoldReason
		perBuyer        bool
		ingest, erased  bool
		forgotten       bool // memory has only a later auction with the seller's id
		change          func(*event.LeadDecided)
		want            string
	}{
		"only on the buyer's list":               {campaign: "dnc", buyer: "own", listed: "own", reason: market.ReasonSuppressed, want: "buy_1 suppressed: " + own + reconstructed},
		"only on the campaign's list":            {campaign: "dnc", buyer: "own", listed: "dnc", reason: market.ReasonSuppressed, want: "campaign: " + dnc + reconstructed},
		"on both lists":                          {campaign: "dnc", buyer: "own", listed: "own dnc", reason: market.ReasonSuppressed, want: "campaign: " + dnc + reconstructed},
		"the campaign and the buyer have a list": {campaign: "dnc", buyer: "dnc own", listed: "dnc", reason: market.ReasonSuppressed, want: "campaign: " + dnc + reconstructed},
		"only the buyer has a list":              {buyer: "own", reason: market.ReasonSuppressed, want: "buy_1 suppressed: " + own},
		"only the campaign has a list":           {campaign: "dnc", reason: market.ReasonSuppressed, want: "campaign: " + dnc},
		"both have the same list":                {campaign: "dnc", buyer: "dnc", reason: market.ReasonSuppressed, want: "campaign: " + dnc},
		"on no list any more":                    {campaign: "dnc", buyer: "own", reason: market.ReasonSuppressed, want: unclear + "suppression lists: the person is on one of dnc, own, but it is unknown on which."},
		"lists of an erased lead":                {campaign: "dnc", buyer: "own", listed: "own", erased: true, reason: market.ReasonSuppressed, want: unclear + "suppression lists: the person is on one of dnc, own, but it is unknown on which."},
		"a forgotten auction":                    {campaign: "dnc", buyer: "own", listed: "own", forgotten: true, reason: market.ReasonSuppressed, want: "buy_1 suppressed: " + own + reconstructed},
		"ingest on the campaign's list":          {campaign: "dnc", buyer: "own", listed: "dnc", ingest: true, reason: market.ReasonSuppressed, want: "campaign: " + dnc + reconstructed},
		"ingest on another list":                 {campaign: "dnc", buyer: "own", listed: "own", ingest: true, reason: market.ReasonSuppressed, want: unclear + "suppression lists: the person is on a list of the campaign or of the buyer whose bid the lead accepted, but it is unknown on which."},
		"ingest without a list of the campaign":  {buyer: "own", listed: "own", ingest: true, reason: market.ReasonSuppressed, want: unclear + "suppression lists: the person is on a list of the buyer whose bid the lead accepted, but it is unknown on which."},

		"the buyer's filter":            {campaign: "age", buyer: "make", reason: market.ReasonFiltered, change: age21, want: "buy_1 filtered: " + audi},
		"the campaign's filter":         {campaign: "age", buyer: "make", reason: market.ReasonFiltered, change: age17, want: "campaign: " + adult},
		"a filter of an erased lead":    {campaign: "age", buyer: "phone", erased: true, reason: market.ReasonFiltered, change: age21, want: "buy_1 filtered: phone: required a condition on personal data, got an unknown value"},
		"filters of an erased lead":     {campaign: "email", buyer: "phone", erased: true, reason: market.ReasonFiltered, want: unclear + "filters: required the filters of the campaign or of buyer buy_1, got an unknown value."},
		"erased, the campaign's filter": {campaign: "email", buyer: "age", erased: true, reason: market.ReasonFiltered, change: age21, want: "campaign: email: required a condition on personal data, got an unknown value"},
		"erased, the buyer's filter":    {campaign: "email", buyer: "age", erased: true, reason: market.ReasonFiltered, change: age17, want: "buy_1 filtered: " + adult},
		"a text":                        {buyer: "comments", reason: market.ReasonFiltered, want: "buy_1 filtered: " + comments},
		"a text of an erased lead":      {buyer: "comments", erased: true, reason: market.ReasonFiltered, want: "buy_1 filtered: comments: required a condition on a text that may have contained personal data, got an unknown value"},
		"a number after an erased text": {buyer: "comments age", erased: true, reason: market.ReasonFiltered, change: age17, want: "buy_1 filtered: " + adult},
		"a missing number after erasure": {
			buyer: "comments age", erased: true, reason: market.ReasonFiltered,
			want: "buy_1 filtered: age: required >= 18, got none",
		},
		"ingest, the campaign's filter": {campaign: "age", buyer: "make", ingest: true, reason: market.ReasonFiltered, change: age17, want: "campaign: " + adult},
		"ingest, another filter":        {campaign: "age", buyer: "make", ingest: true, reason: market.ReasonFiltered, change: age21, want: unclear + "filters: required the filters of the buyer whose bid the lead accepted, got an unknown value."},

		"duplicate of the campaign":           {reason: market.ReasonDuplicate, change: earlier, want: "campaign: duplicate: the campaign" + hasEarlier},
		"duplicate of the buyer":              {reason: market.ReasonDuplicate, perBuyer: true, change: earlier, want: "buy_1 duplicate: duplicate: buyer buy_1" + hasEarlier},
		"ingest of a duplicate of a buyer":    {reason: market.ReasonDuplicate, perBuyer: true, ingest: true, change: earlier, want: unclear + "duplicate: the buyer whose bid the lead accepted" + hasEarlier},
		"ingest of a campaign's duplicate":    {reason: market.ReasonDuplicate, ingest: true, change: earlier, want: "campaign: duplicate: the campaign" + hasEarlier},
		"a reason without a rule has no note": {reason: market.ReasonBidExpired, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			campaign := newCampaign(t, market.PingPost)
			campaign.Duplicates.PerBuyer = row.perBuyer
			chosen := &campaign.FilterSets[0]
			if row.reason == market.ReasonSuppressed {
				campaign.Suppression, chosen.Buyer.Suppression = listsNamed(strings.Fields(row.campaign)...), listsNamed(strings.Fields(row.buyer)...)
			} else {
				campaign.Filters, chosen.Filters = filtersOn(t, campaign.Mapping, row.campaign), filtersOn(t, campaign.Mapping, row.buyer)
			}
			c := newHistoryOf(t, campaign)
			c.OnList = func(list *market.SuppressionListDefinition, _ *market.Lead) (listed, loaded bool) {
				return slices.Contains(strings.Fields(row.listed), string(list.ID)), true
			}
			if row.erased {
				c.Contact = func(*event.LeadDecided) (event.LeadPersonalData, error) {
					return event.LeadPersonalData{}, engine.ErrErased
				}
			}
			auction := c.newAuction(1, "theirs")
			if row.forgotten {
				auction.Keep = c.Now + int64(2*time.Second)
			}
			c.Add(auction)
			c.AdvanceClock(time.Second)
			decided := &event.LeadDecided{Lead: c.NewLeadID(2), Campaign: 1, Supplier: 1, Catalog: 1, Decided: c.Now, Keep: c.Now + int64(time.Hour), Reason: row.reason}
			if !row.ingest {
				decided.SellerAuction = "theirs"
			}
			if row.change != nil {
				row.change(decided)
			}
			c.Add(decided)
			if row.forgotten {
				c.AdvanceClock(time.Minute)
				again := c.newAuction(3, "theirs")
				again.Bids[0].Outcome, again.Bids[1].Outcome = market.OutcomeLost, market.OutcomeWon
				c.Add(again)
			}
			doc := c.mustExplainLead(decided.Lead)
			if got := rejectionText(doc); row.want == "" && got != "" || !strings.HasPrefix(got, row.want) {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if blamed := unsoldReasons[row.reason].noCandidates; row.want != "" && strings.Contains(doc.Why, blamed) != strings.HasPrefix(row.want, "campaign: ") {
				t.Errorf("the summary is wrong: %s", doc.Why)
			}
		})
	}
}

// TestExplainRecordedRejectionOfBid: the outcome of a bid's buyer is recorded. The other buyers were not
// considered, so they are no candidates.
func TestExplainRecordedRejectionOfBid(t *testing.T) {
	t.Parallel()
	campaign := newCampaign(t, market.PingPost)
	campaign.FilterSets[1].Filters = filtersOn(t, campaign.Mapping, "make")
	c := newHistoryOf(t, campaign)
	c.activateDocument(1, `{"campaigns":[{"id":"cmp","method":"ping_post","buyers":[{"buyer":"buy_1"},{"buyer":"buy_2"}]}]}`)
	for n, sellerAuction := range []string{"theirs", ""} {
		id := c.NewLeadID(byte(n))
		c.Add(&event.LeadDecided{
			Lead: id, Campaign: 1, Supplier: 1, Catalog: 1, Decided: c.Now, Keep: c.Now + int64(time.Hour), Reason: market.ReasonFiltered, SellerAuction: sellerAuction,
			Trail: []event.FilterSetsWithOutcome{{Outcome: market.OutcomeFiltered, FilterSets: bitset.Set{2}}},
		})
		doc := c.mustExplainLead(id)
		if got, want := doc.outcomesText()+"; "+rejectionText(doc), "buy_2 filtered; buy_2 filtered: make: required one of Audi, got none"; got != want {
			t.Errorf("auction %q:\n got %s\nwant %s", sellerAuction, got, want)
		}
	}
}

func age21(decided *event.LeadDecided) {
	decided.Fields = append(decided.Fields, event.LeadField{Name: "age", Kind: market.KindInteger, Text: []byte("21")})
}

// filtersOn returns a filter on each of the fields.
func filtersOn(t *testing.T, mapping *market.FieldMapping, fields string) (filters []market.Filter) {
	t.Helper()
	eighteen := "18"
	for _, field := range strings.Fields(fields) {
		spec := map[string]market.FilterSpec{
			"age": {Min: &eighteen}, "make": {In: []string{"Audi"}}, "comments": {NotIn: []string{"spam"}},
			"email": {NotIn: []string{"a@b.example"}}, "phone": {NotIn: []string{"+12125550000"}},
		}[field]
		spec.Field = field
		filters = append(filters, must.Value(market.NewFilter(spec, mapping))(t))
	}
	return filters
}

// rejectionText returns the campaign's rule, or the candidates with their rules, or the notes.
func rejectionText(doc *Explanation) string {
	var texts []string
	if doc.Rule != nil {
		texts = append(texts, "campaign: "+doc.Rule.Text)
	}
	for i := range doc.Candidates {
		if candidate := &doc.Candidates[i]; candidate.Rule != nil {
			texts = append(texts, fmt.Sprintf("%s %s: %s", candidate.Buyer, candidate.Outcome, candidate.Rule.Text))
		}
	}
	for _, note := range doc.Notes {
		if strings.Contains(note, "rule") {
			texts = append(texts, "note: "+note)
		}
	}
	return strings.Join(texts, "; ")
}
