package market

import (
	"slices"
	"testing"
)

// The log holds these numbers: a line here may be added, never changed.
var frozenReasons = map[Reason]string{
	0: "", 1: "no_buyer", 2: "no_state_match", 3: "filtered", 4: "outside_schedule", 5: "caps_full",
	6: "insufficient_funds", 7: "rate_limited", 8: "timeout", 9: "no_bid", 10: "below_floor",
	11: "bid_expired", 12: "post_rejected", 13: "suppressed", 14: "duplicate",
	15: "no_campaign", 16: "loop",
}

// The log holds these numbers: a line here may be added, never changed.
var frozenOutcomes = map[Outcome]struct {
	name   string
	reason string // what a supplier is told
}{
	0:  {"not_asked", ""},
	1:  {"won", ""},
	2:  {"lost", ""},
	3:  {"below_floor", "below_floor"},
	4:  {"wrong_currency", "no_bid"},
	5:  {"late", "no_bid"},
	6:  {"timeout", "no_bid"},
	7:  {"no_bid", "no_bid"},
	8:  {"invalid", "no_bid"},
	9:  {"rate_limited", "rate_limited"},
	10: {"capped", "caps_full"},
	11: {"filtered", "filtered"},
	12: {"wrong_state", "no_state_match"},
	13: {"closed", "outside_schedule"},
	14: {"no_funds", "insufficient_funds"},
	15: {"suppressed", "suppressed"},
	16: {"unhealthy", "no_bid"},
	17: {"paused", "no_bid"},
	18: {"error", "no_bid"},
	19: {"post_rejected", "post_rejected"},
	20: {"post_pending", ""},
	21: {"duplicate", "duplicate"},
}

func TestReasonsAreFrozen(t *testing.T) {
	if len(frozenReasons) != int(reasonEnd) {
		t.Errorf("%d reasons, %d of them frozen", reasonEnd, len(frozenReasons))
	}
	for number, name := range frozenReasons {
		if number.String() != name {
			t.Errorf("reason %d is %q, was %q", number, number, name)
		}
	}
	if reasonEnd.String() != "unknown" {
		t.Errorf("a number past the last is %q", reasonEnd)
	}
}

func TestOutcomesAreFrozen(t *testing.T) {
	if len(frozenOutcomes) != OutcomeCount {
		t.Errorf("%d outcomes, %d of them frozen", OutcomeCount, len(frozenOutcomes))
	}
	seen := map[string]bool{}
	for number, want := range frozenOutcomes {
		if number.String() != want.name || number.SupplierReason().String() != want.reason {
			t.Errorf("outcome %d is %q, told as %q; was %q, told as %q", number, number, number.SupplierReason(), want.name, want.reason)
		}
		seen[number.String()] = true
	}
	if len(seen) != OutcomeCount {
		t.Errorf("%d outcomes have %d names", OutcomeCount, len(seen))
	}
	if Outcome(OutcomeCount).String() != "unknown" {
		t.Errorf("a number past the last is %q", Outcome(OutcomeCount))
	}
}

func TestFurthestReasonIsTold(t *testing.T) {
	stages := []Reason{
		ReasonNone, ReasonNoBuyer, ReasonNoStateMatch, ReasonFiltered, ReasonOutsideSchedule,
		ReasonCapsFull, ReasonInsufficientFunds, ReasonRateLimited, ReasonTimeout, ReasonNoBid,
		ReasonBelowFloor, ReasonBidExpired, ReasonPostRejected,
	}
	for i, early := range stages {
		for _, late := range stages[i:] {
			if early.FurthestOf(late) != late || late.FurthestOf(early) != late {
				t.Errorf("of %q and %q, %q and %q are told", early, late, early.FurthestOf(late), late.FurthestOf(early))
			}
		}
	}
	// One buyer that knows the lead says less than another that would have
	// taken it at a better hour.
	for _, own := range []Reason{ReasonSuppressed, ReasonDuplicate} {
		if own.FurthestOf(ReasonFiltered) != own || own.FurthestOf(ReasonOutsideSchedule) != ReasonOutsideSchedule {
			t.Errorf("%q stands elsewhere than beside the filters", own)
		}
	}
}

// What ends a ping before there is any candidate is told where there is nothing
// else to tell, and no candidate's outcome is told as it.
func TestAPingThatFindsNoCampaignStandsApart(t *testing.T) {
	for _, apart := range []Reason{ReasonNoCampaign, ReasonLoop} {
		if ReasonNone.FurthestOf(apart) != apart {
			t.Errorf("%q is not told at all", apart)
		}
		for other := range reasonEnd {
			if other == ReasonNone || other == ReasonNoCampaign || other == ReasonLoop {
				continue
			}
			if got := apart.FurthestOf(other); got != other {
				t.Errorf("of %q and %q, %q is told", apart, other, got)
			}
		}
		for outcome := range outcomeEnd {
			if outcome.SupplierReason() == apart {
				t.Errorf("a candidate that is %q is told as %q", outcome, apart)
			}
		}
	}
}

func TestEveryReasonHasItsOwnRank(t *testing.T) {
	ranks := slices.Clone(reasonRank[:])
	slices.Sort(ranks)
	if len(slices.Compact(ranks)) != int(reasonEnd) {
		t.Errorf("two reasons share a rank: %v", reasonRank)
	}
}
