package selection_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// checkOutcomes compares the candidates with the expected outcome of each filter set;
// OutcomeNone is eligible.
func checkOutcomes(t *rapid.T, c *selection.Candidates, want []market.BuyerOutcome) {
	got := make([][]market.BuyerOutcome, len(want))
	for filterSet := c.Eligible.NextFrom(0); filterSet >= 0; filterSet = c.Eligible.NextFrom(filterSet + 1) {
		got[filterSet] = append(got[filterSet], market.OutcomeNone)
	}
	last := market.OutcomeNone
	c.EachOutcomeInUse(func(outcome market.BuyerOutcome, filterSets bitset.Set) {
		if outcome <= last || filterSets.Count() == 0 {
			t.Fatalf("outcome %s after %s, with %d filter sets", outcome, last, filterSets.Count())
		}
		last = outcome
		for filterSet := filterSets.NextFrom(0); filterSet >= 0; filterSet = filterSets.NextFrom(filterSet + 1) {
			got[filterSet] = append(got[filterSet], outcome)
		}
	})
	for filterSet, outcome := range want {
		if !slices.Equal(got[filterSet], []market.BuyerOutcome{outcome}) {
			t.Fatalf("filter set %d has outcomes %v, want only %s", filterSet, got[filterSet], outcome)
		}
		if is := c.OutcomeOf(filterSet); is != outcome {
			t.Fatalf("filter set %d has outcome %s, want %s", filterSet, is, outcome)
		}
	}
	if reason := furthestReason(want); c.UnsoldReasonOfLatestStage() != reason {
		t.Fatalf("reason %q, want that of the furthest stage, %q", c.UnsoldReasonOfLatestStage(), reason)
	}
}

// reasonsByStage has the order of the contract: a later reason is of a later stage.
var reasonsByStage = []market.UnsoldReason{
	market.ReasonNoBuyer, market.ReasonNoStateMatch, market.ReasonFiltered, market.ReasonSuppressed, market.ReasonDuplicate,
	market.ReasonOutsideSchedule, market.ReasonCapsFull, market.ReasonInsufficientFunds, market.ReasonRateLimited,
	market.ReasonTimeout, market.ReasonNoBid, market.ReasonBelowFloor, market.ReasonBidExpired, market.ReasonPostRejected,
}

func furthestReason(outcomes []market.BuyerOutcome) market.UnsoldReason {
	reached := 0
	for _, outcome := range outcomes {
		reached = max(reached, slices.Index(reasonsByStage, outcome.UnsoldReasonForSupplier()))
	}
	return reasonsByStage[reached]
}

func drawFilterSets(t *rapid.T, n int) bitset.Set {
	bits := bitset.New(n)
	for i := range bits {
		bits[i] = rapid.Uint64().Draw(t, "filter sets")
	}
	if n%64 > 0 {
		bits[n/64] &= 1<<(n%64) - 1
	}
	return bits
}

// After any operations, over several decisions, a filter set has exactly one outcome or is
// eligible.
func TestCandidateHasOneOutcome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c selection.Candidates
		for range rapid.IntRange(1, 4).Draw(t, "decisions") {
			n := rapid.SampledFrom([]int{0, 1, 63, 64, 65, 200}).Draw(t, "filter sets")
			compiled := selection.CompileFilterSets(campaignOf(n))
			c.ResetToAll(compiled)
			want := make([]market.BuyerOutcome, n)
			set := func(bits bitset.Set, has bool, outcome market.BuyerOutcome) {
				for filterSet := range want {
					if want[filterSet] == market.OutcomeNone && bits.Has(filterSet) == has {
						want[filterSet] = outcome
					}
				}
			}
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				outcome := market.BuyerOutcome(rapid.IntRange(1, market.OutcomeCount-1).Draw(t, "outcome"))
				bits := drawFilterSets(t, n)
				switch rapid.IntRange(0, 8).Draw(t, "step") {
				case 0, 1:
					c.ExcludeAllExcept(bits, outcome)
					set(bits, false, outcome)
				case 2, 3:
					c.ExcludeAll(bits, outcome)
					set(bits, true, outcome)
				case 4:
					none := bitset.New(n)
					c.ExcludeAllExcept(none, outcome)
					set(none, false, outcome)
				case 5, 6:
					if filterSet := c.Eligible.NextFrom(0); filterSet >= 0 {
						c.Exclude(filterSet, outcome)
						want[filterSet] = outcome
					}
				default:
					if filterSet := slices.IndexFunc(want, func(o market.BuyerOutcome) bool { return o != market.OutcomeNone }); filterSet >= 0 {
						c.ChangeOutcome(filterSet, want[filterSet], outcome)
						want[filterSet] = outcome
					}
				}
				checkOutcomes(t, &c, want)
			}
		}
	})
}

func campaignOf(n int) *market.Campaign {
	c := &market.Campaign{Mapping: mapping}
	for range n {
		c.FilterSets = append(c.FilterSets, market.FilterSet{Buyer: &market.Buyer{}, States: market.AllStates})
	}
	return c
}

func TestUnsoldReasonIsOfFurthestStage(t *testing.T) {
	for _, test := range []struct {
		name     string
		outcomes []market.BuyerOutcome
		want     string
	}{
		{"no filter sets", nil, "no_buyer"},
		{"wrong state", []market.BuyerOutcome{market.OutcomeWrongState}, "no_state_match"},
		{"filtered", []market.BuyerOutcome{market.OutcomeWrongState, market.OutcomeFiltered}, "filtered"},
		{"capped", []market.BuyerOutcome{market.OutcomeFiltered, market.OutcomeCapped, market.OutcomeClosed}, "caps_full"},
		{"no funds", []market.BuyerOutcome{market.OutcomeCapped, market.OutcomeNoFunds}, "insufficient_funds"},
		{"paused", []market.BuyerOutcome{market.OutcomePaused, market.OutcomeCapped}, "no_bid"},
		{"below the floor", []market.BuyerOutcome{market.OutcomeBelowFloor, market.OutcomePaused}, "below_floor"},
		{"post rejected", []market.BuyerOutcome{market.OutcomePostRejected, market.OutcomeBelowFloor}, "post_rejected"},
		{"duplicate", []market.BuyerOutcome{market.OutcomeDuplicate, market.OutcomeFiltered}, "duplicate"},
	} {
		var c selection.Candidates
		c.ResetToAll(selection.CompileFilterSets(campaignOf(len(test.outcomes))))
		for filterSet, outcome := range test.outcomes {
			c.Exclude(filterSet, outcome)
		}
		if got := c.UnsoldReasonOfLatestStage().String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
