package exchange

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// unsoldUnder writes a lead that two seats did not take, decided by a version.
func (c *chronicle) unsoldUnder(n byte, version uint32) market.LeadID {
	c.t.Helper()
	id := c.draw(n)
	c.add(&event.LeadDecided{
		Lead: id, Campaign: 1, Supplier: 1, Catalog: version, Reason: market.ReasonCapsFull, Keep: c.now + int64(24*time.Hour),
		Trail: []event.Step{{Outcome: market.OutcomeWrongState, Seats: market.Bits{2}}, {Outcome: market.OutcomeCapped, Seats: market.Bits{1}}},
	})
	return id
}

// TestExplainLineups: seats are named by the configuration that the lead was decided
// by, however many came since, and however the decisions of two mix at a change.
func TestExplainLineups(t *testing.T) {
	for _, leads := range []int{1, 5, 50} {
		t.Run(fmt.Sprint(leads, " leads each"), func(t *testing.T) {
			c := newChronicle(t)
			want := map[market.LeadID]string{}
			n := byte(0)
			for version := uint32(1); version <= 7; version++ {
				first := fmt.Sprint("buy_", version)
				c.configured(version, first, "buy_9")
				for i := range leads {
					n++
					c.later(time.Second)
					of, buyer := version, first
					if version > 1 && i%3 == 1 && i < 10 { // one that began before the change
						of, buyer = version-1, fmt.Sprint("buy_", version-1)
					}
					id := c.unsoldUnder(n, of)
					if n > 200 {
						n = 0
					}
					want[id] = buyer + " capped, buy_9 wrong_state"
				}
			}
			for id, outcomes := range want {
				if told := c.told(id); told.outcomes() != outcomes || told.Method != "waterfall" {
					t.Errorf("version %d: %s, %q, want %s", told.Catalog, told.Method, told.outcomes(), outcomes)
				}
			}
		})
	}
}

// TestExplainWithoutLineup: where the configuration of that time cannot be had, seats
// have their numbers, and nothing is guessed.
func TestExplainWithoutLineup(t *testing.T) {
	const numbers = "0 capped, 1 wrong_state"
	c := newChronicle(t)
	old := c.configured(1, "buy_1", "buy_2")
	first := c.unsoldUnder(1, 1)
	c.configured(2, "buy_3", "buy_4")
	second := c.unsoldUnder(2, 2)
	unknown := c.unsoldUnder(3, 9)
	if got := c.told(first).outcomes(); got != "buy_1 capped, buy_2 wrong_state" {
		t.Error(got)
	}
	if told := c.told(second); told.outcomes() != "buy_3 capped, buy_4 wrong_state" || len(told.Notes) != 0 {
		t.Errorf("%s, %q", told.outcomes(), told.Notes)
	}
	if told := c.told(unknown); told.outcomes() != numbers || told.Method != "" || len(told.Notes) != 1 || !strings.Contains(told.Notes[0], "configuration 9,") {
		t.Errorf("of no version: %s, %q", told.outcomes(), told.Notes)
	}
	text, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"another's text": func() error {
			return os.WriteFile(old, []byte(strings.Replace(string(text), "buy_1", "buy_5", 1)), 0o600)
		},
		"half a text": func() error { return os.WriteFile(old, text[:len(text)/2], 0o600) },
		"no file":     func() error { return os.Remove(old) },
	} {
		if err := change(); err != nil && name != "no file" {
			t.Fatal(err)
		}
		if told := c.told(first); told.outcomes() != numbers || len(told.Notes) != 1 || !strings.Contains(told.Notes[0], "configuration 1,") {
			t.Errorf("%s: %s, %q", name, told.outcomes(), told.Notes)
		}
	}
}

// TestExplainAfterAChange: of a running exchange, whose seats are others by now.
func TestExplainAfterAChange(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	id := x.ingest(lead(1, "state", `"TX"`)).leadID()
	sold := x.sold(lead(2)).leadID()
	x.write(t, strings.Replace(recorded, "buyers:\n  - {id: buy_blue", "buyers:\n  - {id: buy_new, states: [TX]}\n  - {id: buy_blue", 1))
	x.write(t, strings.Replace(strings.Replace(recorded, "  - {id: buy_blue", "  - {id: buy_new, states: [TX]}\n  - {id: buy_blue", 1),
		"buyers: [{buyer: buy_blue, price: 12.05}]", "buyers: [{buyer: buy_new, price: 3}, {buyer: buy_blue, price: 12.05}]", 1))
	if err := x.Reload(); err != nil {
		t.Fatal(err)
	}
	x = x.again()
	if told := x.explain(id); told.outcomes() != "buy_blue wrong_state" || told.Catalog != 1 {
		t.Errorf("%d: %s", told.Catalog, told.outcomes())
	}
	if told := x.explain(sold); told.outcomes() != "buy_blue won" {
		t.Error(told.outcomes())
	}
	if told := x.explain(x.sold(lead(3)).leadID()); told.outcomes() != "buy_new wrong_state, buy_blue won" || told.Catalog != 2 {
		t.Errorf("%d: %s", told.Catalog, told.outcomes())
	}
	if files, err := filepath.Glob(filepath.Join(x.data(), "catalogs", "*.json")); err != nil || len(files) != 2 {
		t.Errorf("%q %v", files, err)
	}
}

// TestEveryOutcomeIsNamed: whatever a seat came to, asked or not, it is told once and
// by its name, and a bid has what the trail says of its seat.
func TestEveryOutcomeIsNamed(t *testing.T) {
	c := newChronicle(t)
	var trail []event.Step
	var bids []event.Bid
	for outcome := range market.Outcome(market.Outcomes) {
		if outcome == market.OutcomeNone {
			continue
		}
		unasked, asked := int(outcome)*2, int(outcome)*2+1
		seats := market.NewBits(64)
		seats.Set(unasked)
		seats.Set(asked)
		trail = append(trail, event.Step{Outcome: outcome, Seats: seats})
		bids = append(bids, event.Bid{Seat: uint32(asked), Buyer: 1, Outcome: market.OutcomeLost, Elapsed: 1e6, Status: 200})
	}
	seen := map[uint32]bool{}
	for _, candidate := range c.candidates(lineup{}, trail, bids, true) {
		want := market.Outcome(candidate.Seat / 2).String()
		if candidate.Seat < 2 {
			want = "not_asked"
		}
		if candidate.Outcome != want || want == "unknown" || seen[candidate.Seat] || candidate.Asked != (candidate.Seat%2 == 1 && candidate.Seat > 1) {
			t.Errorf("%+v, want %s", candidate, want)
		}
		seen[candidate.Seat] = true
	}
	if len(seen) != 2*market.Outcomes {
		t.Errorf("%d seats of %d", len(seen), 2*market.Outcomes)
	}
}

// TestWhoAskedForAPauseIsNotAsked: a buyer whose 429 holds it back was sent nothing;
// one that has just answered 429 was.
func TestWhoAskedForAPauseIsNotAsked(t *testing.T) {
	c := newChronicle(t)
	held := c.offering(1, "theirs")
	held.Trail = append(held.Trail, event.Step{Outcome: market.OutcomeRateLimited, Seats: market.Bits{0b11100}})
	held.Bids = append(held.Bids,
		event.Bid{Seat: 2, Buyer: 3, Outcome: market.OutcomeRateLimited, Elapsed: 7e6, Status: 429},
		event.Bid{Seat: 3, Buyer: 4, Outcome: market.OutcomeRateLimited, Elapsed: 1e3})
	c.add(held)
	told, err := c.explainer.auction(held.Auction)
	if err != nil {
		t.Fatal(err)
	}
	var asked []bool
	for _, candidate := range told.Candidates {
		asked = append(asked, candidate.Asked)
		if candidate.Asked != (candidate.Elapsed != 0) {
			t.Errorf("%+v", candidate)
		}
	}
	if !slices.Equal(asked, []bool{true, true, true, false, false}) {
		t.Errorf("%v: %s", asked, told.outcomes())
	}
}
