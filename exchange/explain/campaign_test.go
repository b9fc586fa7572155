package explain

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// addUnsoldLead records a lead that two filter sets rejected, decided under a configuration
// version.
func (c *history) addUnsoldLead(n byte, version uint32) market.LeadID {
	c.t.Helper()
	id := c.NewLeadID(n)
	c.Add(&event.LeadDecided{
		Lead: id, Campaign: 1, Supplier: 1, Catalog: version, Reason: market.ReasonCapsFull, Keep: c.Now + int64(24*time.Hour),
		Trail: []event.FilterSetsWithOutcome{{Outcome: market.OutcomeWrongState, FilterSets: bitset.Set{2}}, {Outcome: market.OutcomeCapped, FilterSets: bitset.Set{1}}},
	})
	return id
}

// TestExplainFilterSets: filter sets have the buyers of the configuration that decided the
// lead, despite later versions and decisions that alternate between two versions.
func TestExplainFilterSets(t *testing.T) {
	for _, leads := range []int{1, 5, 50} {
		t.Run(fmt.Sprint(leads, " leads each"), func(t *testing.T) {
			c := newHistory(t)
			want := map[market.LeadID]string{}
			n := byte(0)
			for version := uint32(1); version <= 7; version++ {
				first := fmt.Sprint("buy_", version)
				c.activateConfig(version, first, "buy_9")
				for i := range leads {
					n++
					c.AdvanceClock(time.Second)
					decidedBy, buyer := version, first
					if version > 1 && i%3 == 1 && i < 10 { // a request from before the change
						decidedBy, buyer = version-1, fmt.Sprint("buy_", version-1)
					}
					id := c.addUnsoldLead(n, decidedBy)
					if n > 200 {
						n = 0
					}
					want[id] = buyer + " capped, buy_9 wrong_state"
				}
			}
			for id, outcomes := range want {
				if doc := c.mustExplainLead(id); doc.outcomesText() != outcomes || doc.Method != "waterfall" {
					t.Errorf("version %d: %s, %q, want %s", doc.Catalog, doc.Method, doc.outcomesText(), outcomes)
				}
			}
		})
	}
}

// TestExplainWithoutConfiguration: if the configuration of the decision is unavailable,
// filter sets have numbers and no buyers.
func TestExplainWithoutConfiguration(t *testing.T) {
	const numbers = "0 capped, 1 wrong_state"
	c := newHistory(t)
	old := c.activateConfig(1, "buy_1", "buy_2")
	first := c.addUnsoldLead(1, 1)
	c.activateConfig(2, "buy_3", "buy_4")
	second := c.addUnsoldLead(2, 2)
	unknown := c.addUnsoldLead(3, 9)
	if got := c.mustExplainLead(first).outcomesText(); got != "buy_1 capped, buy_2 wrong_state" {
		t.Error(got)
	}
	if doc := c.mustExplainLead(second); doc.outcomesText() != "buy_3 capped, buy_4 wrong_state" || len(doc.Notes) != 0 {
		t.Errorf("%s, %q", doc.outcomesText(), doc.Notes)
	}
	if doc := c.mustExplainLead(unknown); doc.outcomesText() != numbers || doc.Method != "" || len(doc.Notes) != 1 || !strings.Contains(doc.Notes[0], "configuration 9,") {
		t.Errorf("unknown version: %s, %q", doc.outcomesText(), doc.Notes)
	}
	text := must.Value(os.ReadFile(old))(t)
	for name, change := range map[string]func() error{
		"changed file": func() error {
			return os.WriteFile(old, []byte(strings.Replace(string(text), "buy_1", "buy_5", 1)), 0o600)
		},
		"truncated file": func() error { return os.WriteFile(old, text[:len(text)/2], 0o600) },
		"missing file":   func() error { return os.Remove(old) },
	} {
		if err := change(); err != nil && name != "missing file" {
			t.Fatal(err)
		}
		if doc := c.mustExplainLead(first); doc.outcomesText() != numbers || len(doc.Notes) != 1 || !strings.Contains(doc.Notes[0], "configuration 1,") {
			t.Errorf("%s: %s, %q", name, doc.outcomesText(), doc.Notes)
		}
	}
}

// TestFilterSetOutcomeNames: every filter set, pinged or not, appears once with its
// outcome's name. A bid has the outcome of its step in the trail.
func TestFilterSetOutcomeNames(t *testing.T) {
	c := newHistory(t)
	var trail []event.FilterSetsWithOutcome
	var bids []event.Bid
	for outcome := range market.BuyerOutcome(market.OutcomeCount) {
		if outcome == market.OutcomeNone {
			continue
		}
		notPinged, pinged := int(outcome)*2, int(outcome)*2+1
		filterSets := bitset.New(64)
		filterSets.Add(notPinged)
		filterSets.Add(pinged)
		trail = append(trail, event.FilterSetsWithOutcome{Outcome: outcome, FilterSets: filterSets})
		bids = append(bids, event.Bid{FilterSet: uint32(pinged), Buyer: 1, Outcome: market.OutcomeLost, Elapsed: 1e6, Status: 200})
	}
	seen := map[uint32]bool{}
	for _, candidate := range c.listFilterSetCandidates(campaignConfigOfVersion{}, trail, bids, true) {
		want := market.BuyerOutcome(candidate.Seat / 2).String()
		if candidate.Seat < 2 {
			want = "not_asked"
		}
		if candidate.Outcome != want || want == "unknown" || seen[candidate.Seat] || candidate.Pinged != (candidate.Seat%2 == 1 && candidate.Seat > 1) {
			t.Errorf("%+v, want %s", candidate, want)
		}
		seen[candidate.Seat] = true
	}
	if len(seen) != 2*market.OutcomeCount {
		t.Errorf("got %d filter sets, want %d", len(seen), 2*market.OutcomeCount)
	}
}

// TestPausedBuyerIsNotPinged: a buyer that paused pings with an earlier 429, and a buyer at its
// connection limit, got no ping. A buyer that answers 429 to this ping got one.
func TestPausedBuyerIsNotPinged(t *testing.T) {
	c := newHistory(t)
	auction := c.newAuction(1, "theirs")
	auction.Trail = append(auction.Trail, event.FilterSetsWithOutcome{Outcome: market.OutcomeRateLimited, FilterSets: bitset.Set{0b111100}})
	auction.Bids = append(auction.Bids,
		event.Bid{FilterSet: 2, Buyer: 3, Outcome: market.OutcomeRateLimited, Elapsed: 7e6, Status: 429},
		event.Bid{FilterSet: 3, Buyer: 4, Outcome: market.OutcomeRateLimited, Elapsed: 1e3},
		event.Bid{FilterSet: 4, Buyer: 5, Outcome: market.OutcomeRateLimited, Elapsed: 1e9, Fault: market.FaultConnectionLimit})
	c.Add(auction)
	doc := must.Value(c.ExplainAuction(auction.Auction))(t)
	var pinged []bool
	for _, candidate := range doc.Candidates {
		pinged = append(pinged, candidate.Pinged)
		if candidate.Pinged != (candidate.Elapsed != 0) {
			t.Errorf("%+v", candidate)
		}
	}
	if !slices.Equal(pinged, []bool{true, true, true, false, false, false}) {
		t.Errorf("%v: %s", pinged, doc.outcomesText())
	}
}
