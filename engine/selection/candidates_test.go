package selection_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// compare holds the candidates against what each seat came to; OutcomeNone is
// one that is still in.
func compare(t *rapid.T, c *selection.Candidates, want []market.BuyerOutcome) {
	got := make([][]market.BuyerOutcome, len(want))
	for seat := c.Eligible.NextFrom(0); seat >= 0; seat = c.Eligible.NextFrom(seat + 1) {
		got[seat] = append(got[seat], market.OutcomeNone)
	}
	last := market.OutcomeNone
	c.EachOutcomeInUse(func(outcome market.BuyerOutcome, seats bitset.Set) {
		if outcome <= last || seats.Count() == 0 {
			t.Fatalf("%s came after %s, with %d seats", outcome, last, seats.Count())
		}
		last = outcome
		for seat := seats.NextFrom(0); seat >= 0; seat = seats.NextFrom(seat + 1) {
			got[seat] = append(got[seat], outcome)
		}
	})
	for seat, outcome := range want {
		if !slices.Equal(got[seat], []market.BuyerOutcome{outcome}) {
			t.Fatalf("seat %d is in %v, want %s alone", seat, got[seat], outcome)
		}
		if is := c.OutcomeOf(seat); is != outcome {
			t.Fatalf("seat %d came to %s, want %s", seat, is, outcome)
		}
	}
	if reason := furthest(want); c.FurthestUnsoldReason() != reason {
		t.Fatalf("reason %q, the furthest stage is %q", c.FurthestUnsoldReason(), reason)
	}
}

// order is the contract's: the later a reason stands, the further a lead came.
var order = []market.UnsoldReason{
	market.ReasonNoBuyer, market.ReasonNoStateMatch, market.ReasonFiltered, market.ReasonSuppressed, market.ReasonDuplicate,
	market.ReasonOutsideSchedule, market.ReasonCapsFull, market.ReasonInsufficientFunds, market.ReasonRateLimited,
	market.ReasonTimeout, market.ReasonNoBid, market.ReasonBelowFloor, market.ReasonBidExpired, market.ReasonPostRejected,
}

func furthest(outcomes []market.BuyerOutcome) market.UnsoldReason {
	reached := 0
	for _, outcome := range outcomes {
		reached = max(reached, slices.Index(order, outcome.SupplierReason()))
	}
	return order[reached]
}

func seats(t *rapid.T, n int) bitset.Set {
	bits := bitset.New(n)
	for i := range bits {
		bits[i] = rapid.Uint64().Draw(t, "seats")
	}
	if n%64 > 0 {
		bits[n/64] &= 1<<(n%64) - 1
	}
	return bits
}

// Whatever is done to candidates, in any order and over several decisions, a
// seat is in one place.
func TestACandidateComesToOneThing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c selection.Candidates
		for range rapid.IntRange(1, 4).Draw(t, "decisions") {
			n := rapid.SampledFrom([]int{0, 1, 63, 64, 65, 200}).Draw(t, "seats")
			lineup := selection.CompileFilterSets(campaignOf(n))
			c.ResetToAll(lineup)
			want := make([]market.BuyerOutcome, n)
			set := func(bits bitset.Set, has bool, outcome market.BuyerOutcome) {
				for seat := range want {
					if want[seat] == market.OutcomeNone && bits.Has(seat) == has {
						want[seat] = outcome
					}
				}
			}
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				outcome := market.BuyerOutcome(rapid.IntRange(1, market.OutcomeCount-1).Draw(t, "outcome"))
				bits := seats(t, n)
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
					if seat := c.Eligible.NextFrom(0); seat >= 0 {
						c.Exclude(seat, outcome)
						want[seat] = outcome
					}
				default:
					if seat := slices.IndexFunc(want, func(o market.BuyerOutcome) bool { return o != market.OutcomeNone }); seat >= 0 {
						c.ChangeOutcome(seat, want[seat], outcome)
						want[seat] = outcome
					}
				}
				compare(t, &c, want)
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

func TestTheReasonIsTheFurthestStage(t *testing.T) {
	for _, test := range []struct {
		what     string
		outcomes []market.BuyerOutcome
		want     string
	}{
		{"nobody buys here", nil, "no_buyer"},
		{"all are elsewhere", []market.BuyerOutcome{market.OutcomeWrongState}, "no_state_match"},
		{"one is here and does not want it", []market.BuyerOutcome{market.OutcomeWrongState, market.OutcomeFiltered}, "filtered"},
		{"one has had enough", []market.BuyerOutcome{market.OutcomeFiltered, market.OutcomeCapped, market.OutcomeClosed}, "caps_full"},
		{"one has no money", []market.BuyerOutcome{market.OutcomeCapped, market.OutcomeNoFunds}, "insufficient_funds"},
		{"one is paused", []market.BuyerOutcome{market.OutcomePaused, market.OutcomeCapped}, "no_bid"},
		{"one pays too little", []market.BuyerOutcome{market.OutcomeBelowFloor, market.OutcomePaused}, "below_floor"},
		{"one refused it", []market.BuyerOutcome{market.OutcomePostRejected, market.OutcomeBelowFloor}, "post_rejected"},
		{"one has it", []market.BuyerOutcome{market.OutcomeDuplicate, market.OutcomeFiltered}, "duplicate"},
	} {
		var c selection.Candidates
		c.ResetToAll(selection.CompileFilterSets(campaignOf(len(test.outcomes))))
		for seat, outcome := range test.outcomes {
			c.Exclude(seat, outcome)
		}
		if got := c.FurthestUnsoldReason().String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}
